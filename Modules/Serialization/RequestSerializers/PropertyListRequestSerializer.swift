import FoundationEssentials
public import HTTPTypes

/// Writes parameters as a property list; for GET, HEAD and DELETE into the query, as ``FormRequestSerializer`` does.
///
/// Dates and data stay what they are. Null and sets are errors, since a property list has neither. Without parameters
/// there is no body and no Content-Type.
public struct PropertyListRequestSerializer: HTTPRequestSerializer, Hashable, Codable {
    /// Header fields, options, and how and for which methods a query is written.
    public var settings: RequestSerializerSettings
    /// How the property list is written; the default is XML.
    public var format: PropertyListFormat

    /// Creates a serializer.
    public init(
        format: PropertyListFormat = .xml,
        headerFields: HTTPFields = FormRequestSerializer.defaultHeaderFields,
        methodsEncodingParametersInURL: Set<HTTPRequest.Method> = [.get, .head, .delete],
        queryEncoder: QueryEncoder = QueryEncoder()
    ) {
        self.format = format
        settings = RequestSerializerSettings(
            headerFields: headerFields,
            methodsEncodingParametersInURL: methodsEncodingParametersInURL,
            queryEncoder: queryEncoder
        )
    }

    /// The parameters as a property list, or nil without parameters.
    public func body(for parameters: Parameters?, of request: Request) throws(SerializationError) -> SerializedBody? {
        guard let parameters else { return nil }
        let data = try PropertyListValue(parameters.root).data(format: format)
        return SerializedBody(.data(data), contentType: "application/x-plist")
    }

    /// Returns the request with any value as its body, whatever the method, and the fields and options that it lacks.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/encodingFailed``, where Foundation's
    ///   `EncodingError` underlies it; with ``SerializationError/Code/invalidParameters`` if the request has a body.
    public func serialize(
        _ request: Request,
        encoding value: some Encodable
    ) throws(SerializationError) -> Request {
        let data = try encoded(value) { try format.makeEncoder().encode(value) }
        var complete = settings.complete(request)
        try complete.setBody(SerializedBody(.data(data), contentType: "application/x-plist"))
        return complete
    }
}
