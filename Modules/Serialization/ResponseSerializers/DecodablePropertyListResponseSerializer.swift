import FoundationEssentials

/// Decodes a body that is a property list as a type.
///
/// An empty body is treated as ``DecodableResponseSerializer`` treats it. Coding leaves ``userInfo`` out.
public struct DecodablePropertyListResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with
    /// ``PropertyListResponseSerializer/propertyListContentTypes``.
    public var validation: ResponseValidation
    /// The limits for reading.
    public var options: PropertyListParsingOptions
    /// Passed to the type's `init(from:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    private enum CodingKeys: String, CodingKey { case validation, options }

    /// Creates a serializer.
    public init(
        _ type: Value.Type = Value.self,
        validation: ResponseValidation = ResponseValidation(
            contentTypes: PropertyListResponseSerializer.propertyListContentTypes
        ),
        options: PropertyListParsingOptions = PropertyListParsingOptions()
    ) {
        self.validation = validation
        self.options = options
    }

    /// Validates the response and decodes its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` or
    ///   ``SerializationError/Code/nestedTooDeep``, whose underlying error is a ``PropertyListSyntaxError`` or Foundation's
    ///   `DecodingError`; with ``SerializationError/Code/emptyBody`` if there is nothing to decode.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        try validation.validate(response)
        if response.body.isEmpty {
            return try emptyValue(of: Value.self, response) {
                try decode(PropertyListValue.dictionary([:]).written(.binary))
            }
        }
        // Foundation's decoder has no limits: a hundred thousand nested arrays end the process. XML is converted to binary
        // first, so that texts, numbers and dates follow one set of rules.
        let tree = try PropertyListResponseSerializer.read(response, options: options)
        let isBinary = response.body.starts(with: "bplist".utf8)
        let body = isBinary ? response.body : try tree.written(.binary)
        return try decoded(response) { try decode(body) }
    }

    private func decode(_ body: Data) throws -> Value {
        let decoder = PropertyListDecoder()
        decoder.userInfo = userInfo
        return try decoder.decode(Value.self, from: body)
    }
}
