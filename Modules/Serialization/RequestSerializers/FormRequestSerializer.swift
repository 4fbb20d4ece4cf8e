import FoundationEssentials
public import HTTPTypes

/// Writes parameters as `application/x-www-form-urlencoded`: into the query for GET, HEAD and DELETE, otherwise into
/// the body.
///
/// ```swift
/// let serializer = FormRequestSerializer()
/// let request = try serializer.serialize(Request(url: url), parameters: ["q": "swift", "page": 2])
/// ```
/// Without parameters, a method with a body gets an empty one, and the form's Content-Type; a body that the request has
/// is left as it is.
public struct FormRequestSerializer: HTTPRequestSerializer, Hashable, Codable {
    /// Header fields, options, and how and for which methods a query is written.
    public var settings: RequestSerializerSettings

    /// `Accept-Language` from the environment's locale with falling q-values, and
    /// `User-Agent: program/0 (Linux; x86_64) Linnet/0.1`.
    ///
    /// A program on Linux carries no version, so 0 stands for it; `HTTPFields.userAgent(name:version:)` says more.
    public static var defaultHeaderFields: HTTPFields { DefaultHeaderFields.standard }

    /// Creates a serializer.
    public init(
        headerFields: HTTPFields = defaultHeaderFields,
        methodsEncodingParametersInURL: Set<HTTPRequest.Method> = [.get, .head, .delete],
        queryEncoder: QueryEncoder = QueryEncoder()
    ) {
        settings = RequestSerializerSettings(
            headerFields: headerFields,
            methodsEncodingParametersInURL: methodsEncodingParametersInURL,
            queryEncoder: queryEncoder
        )
    }

    /// The form, which is empty without parameters.
    public func body(for parameters: Parameters?, of request: Request) throws(SerializationError) -> SerializedBody? {
        let text = try queryEncoder.encode(parameters ?? Parameters(), for: request)
        return SerializedBody(.data(Data(text.utf8)), contentType: "application/x-www-form-urlencoded")
    }
}
