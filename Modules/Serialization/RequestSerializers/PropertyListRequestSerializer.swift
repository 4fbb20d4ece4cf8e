import FoundationEssentials
public import HTTPTypes

/// Writes parameters as a property list; for GET, HEAD and DELETE into the query, as ``FormRequestSerializer`` does.
///
/// Dates and data keep their types. Null and sets are errors, since property lists have neither. Without parameters,
/// there is no body and no Content-Type.
public struct PropertyListRequestSerializer: HTTPRequestSerializer, Hashable, Codable {
    /// Header fields, options, how a query is written, and for which methods.
    public var settings: RequestSerializerSettings
    /// The format; the default is XML.
    public var format: PropertyListValue.Format

    /// Creates a serializer.
    public init(
        format: PropertyListValue.Format = .xml,
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

    /// The parameters as a property list; nil without parameters.
    public func body(for parameters: RequestParameters?, of request: SessionRequest) throws(SerializationError)
        -> SerializedBody?
    {
        guard let parameters else { return nil }
        let data = try PropertyListValue(parameters.root).data(format: format)
        return SerializedBody(.data(data), contentType: "application/x-plist")
    }

    /// Returns the request with a value as its body, for all methods, and with missing fields and options.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/encodingFailed``, whose underlying error is
    ///   Foundation's `EncodingError`, or if the format cannot represent a value; with
    ///   ``SerializationError/Code/nestedTooDeep`` beyond 512 levels; with
    ///   ``SerializationError/Code/invalidParameters`` if the request has a body.
    public func serialize(
        _ request: SessionRequest,
        encoding value: some Encodable
    ) throws(SerializationError) -> SessionRequest {
        let data = try Self.tree(of: value).data(format: format)
        var complete = settings.complete(request)
        try complete.setBody(SerializedBody(.data(data), contentType: "application/x-plist"))
        return complete
    }

    /// The tree of an encoded value. Foundation encodes it in binary, which can represent every value, and this
    /// module writes the final format.
    private static func tree(of value: some Encodable) throws(SerializationError) -> PropertyListValue {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let data = try encoded(value) { try encoder.encode(value) }
        do {
            return try PropertyListValue(
                parsing: data, options: PropertyListValue.ParsingOptions(maximumExpansion: .max))
        } catch {
            throw SerializationError(
                code: error.kind == .nestedTooDeep ? .nestedTooDeep : .encodingFailed,
                message: "\(type(of: value)) could not be encoded: \(error.reason).",
                underlying: error
            )
        }
    }
}

extension PropertyListRequestSerializer {
    /// Decodes a serializer; missing settings have their defaults.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        settings =
            try container.decodeIfPresent(RequestSerializerSettings.self, forKey: .settings) ?? settings
        format = try container.decodeIfPresent(PropertyListValue.Format.self, forKey: .format) ?? format
    }
}
