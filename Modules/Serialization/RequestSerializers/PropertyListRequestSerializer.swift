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
    ///   `EncodingError` underlies it, or the format has not what the value holds; with
    ///   ``SerializationError/Code/nestedTooDeep`` beyond 512 levels; with
    ///   ``SerializationError/Code/invalidParameters`` if the request has a body.
    public func serialize(
        _ request: Request,
        encoding value: some Encodable
    ) throws(SerializationError) -> Request {
        let data = try Self.tree(of: value).data(format: format)
        var complete = settings.complete(request)
        try complete.setBody(SerializedBody(.data(data), contentType: "application/x-plist"))
        return complete
    }

    /// What a value encodes itself as. Foundation writes it in binary, which can carry all of it, and is what the one writer
    /// of property lists then gets.
    private static func tree(of value: some Encodable) throws(SerializationError) -> PropertyListValue {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let data = try encoded(value) { try encoder.encode(value) }
        do {
            return try PropertyListValue(
                parsing: data, options: PropertyListParsingOptions(maximumExpansion: .max))
        } catch {
            throw SerializationError(
                code: error.kind == .nestedTooDeep ? .nestedTooDeep : .encodingFailed,
                message: "\(type(of: value)) could not be encoded: \(error.reason).",
                underlying: error
            )
        }
    }
}
