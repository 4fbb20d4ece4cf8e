import FoundationEssentials
public import HTTPTypes

/// Writes parameters as `application/x-www-form-urlencoded`: into the query for GET, HEAD and DELETE, otherwise into
/// the body.
///
/// ```swift
/// let serializer = FormRequestSerializer()
/// let request = try serializer.serialize(SessionRequest(url: url), parameters: ["q": "swift", "page": 2])
/// ```
/// Without parameters, other methods get an empty body with the form's Content-Type, unless the request has a body.
public struct FormRequestSerializer: HTTPRequestSerializer, Hashable, Codable {
    /// Header fields, options, how a query is written, and for which methods.
    public var settings: RequestSerializerSettings

    /// `Accept-Language` from the environment's locale, and `User-Agent: program/0 (Linux; x86_64) Linnet/…`, which
    /// ends with the version of this package.
    ///
    /// Programs on Linux carry no version, hence the 0; use `HTTPFields.userAgent(name:version:)` to set one.
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
    public func body(for parameters: RequestParameters?, of request: SessionRequest) throws(SerializationError)
        -> SerializedBody?
    {
        let text = try queryEncoder.encode(parameters ?? RequestParameters(), for: request)
        return SerializedBody(.data(Data(text.utf8)), contentType: "application/x-www-form-urlencoded")
    }
}

extension FormRequestSerializer {
    /// Decodes a serializer; missing settings have their defaults.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        settings =
            try container.decodeIfPresent(RequestSerializerSettings.self, forKey: .settings) ?? settings
    }
}
