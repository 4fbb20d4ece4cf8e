import FoundationEssentials
public import HTTPTypes
public import LinnetJSON

/// Writes parameters as a JSON body; for GET, HEAD and DELETE into the query, as ``FormRequestSerializer`` does.
///
/// Dates are written in ISO 8601 and data in Base64. NaN, infinities and sets are errors. Without parameters, there
/// is no body and no Content-Type.
public struct JSONRequestSerializer: HTTPRequestSerializer, Hashable, Codable {
    /// Header fields, options, how a query is written, and for which methods.
    public var settings: RequestSerializerSettings
    /// The layout of the JSON; the default is one line, in the order of the parameters.
    public var options: JSONValue.WritingOptions

    /// Creates a serializer.
    public init(
        options: JSONValue.WritingOptions = JSONValue.WritingOptions(),
        headerFields: HTTPFields = FormRequestSerializer.defaultHeaderFields,
        methodsEncodingParametersInURL: Set<HTTPRequest.Method> = [.get, .head, .delete],
        queryEncoder: QueryEncoder = QueryEncoder()
    ) {
        self.options = options
        settings = RequestSerializerSettings(
            headerFields: headerFields,
            methodsEncodingParametersInURL: methodsEncodingParametersInURL,
            queryEncoder: queryEncoder
        )
    }

    /// The parameters as JSON; nil without parameters.
    public func body(for parameters: RequestParameters?, of request: SessionRequest) throws(SerializationError)
        -> SerializedBody?
    {
        guard let parameters else { return nil }
        let bytes = try ParameterJSONWriter.write(parameters.root, options: options)
        return SerializedBody(.data(Data(bytes)), contentType: "application/json")
    }

    /// Returns the request with a value as its JSON body, for all methods, and with missing fields and options.
    ///
    /// - Parameters:
    ///   - request: The request to complete.
    ///   - value: The value to encode.
    ///   - encoder: How it is encoded. The default, nil, is `JSONBodyEncoder` with the layout of ``options``.
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/encodingFailed``, whose underlying error is
    ///   Foundation's `EncodingError`, also for NaN and infinities; with
    ///   ``SerializationError/Code/invalidParameters`` if the request has a body.
    public func serialize(
        _ request: SessionRequest,
        encoding value: some Encodable,
        encoder: JSONBodyEncoder? = nil
    ) throws(SerializationError) -> SessionRequest {
        let data = try encoded(value) { try (encoder ?? makeEncoder()).encode(value) }
        var complete = settings.complete(request)
        try complete.setBody(SerializedBody(.data(data), contentType: "application/json"))
        return complete
    }

    private func makeEncoder() -> JSONBodyEncoder {
        var encoder = JSONBodyEncoder()
        if options.sortsKeys { encoder.outputFormatting.insert(.sortedKeys) }
        if options.isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return encoder
    }
}

extension JSONRequestSerializer {
    /// Decodes a serializer; missing settings have their defaults.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        settings =
            try container.decodeIfPresent(RequestSerializerSettings.self, forKey: .settings) ?? settings
        options = try container.decodeIfPresent(JSONValue.WritingOptions.self, forKey: .options) ?? options
    }
}

/// Runs an encoder of Foundation's, and converts its error.
func encoded(_ value: some Encodable, _ encode: () throws -> Data) throws(SerializationError) -> Data {
    do {
        return try encode()
    } catch {
        throw SerializationError(
            code: .encodingFailed,
            message: "\(type(of: value)) could not be encoded: \(reason(of: error)).",
            underlying: error
        )
    }
}
