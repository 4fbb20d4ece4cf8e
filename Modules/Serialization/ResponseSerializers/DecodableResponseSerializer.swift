public import FoundationEssentials
public import LinnetJSON

/// Decodes a JSON body as a type.
///
/// ```swift
/// let serializer = DecodableResponseSerializer([Post].self)
/// ```
/// An empty body decodes as nil if the type is an optional. If HTTP allows no content (204, 205, 304, and replies to
/// HEAD), it also decodes as a type without required properties, such as `struct Empty: Decodable {}`. Otherwise it is
/// an error with ``SerializationError/Code/emptyBody``. A serializer cannot be coded, since its decoder may hold
/// closures.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    /// The responses to accept; the default is a status of 200 to 299 with ``JSONResponseSerializer/jsonContentTypes``.
    public var validation: ResponseValidation
    /// How the JSON is decoded; the default reads dates in ISO 8601.
    public var decoder: JSONBodyDecoder

    /// Creates a serializer.
    public init(
        _ type: Value.Type = Value.self,
        decoder: JSONBodyDecoder = JSONBodyDecoder(),
        validation: ResponseValidation = ResponseValidation(contentTypes: JSONResponseSerializer.jsonContentTypes)
    ) {
        self.decoder = decoder
        self.validation = validation
    }

    /// Creates a serializer with the settings that a `JSONDecoder` has now.
    public init(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder,
        validation: ResponseValidation = ResponseValidation(contentTypes: JSONResponseSerializer.jsonContentTypes)
    ) {
        self.init(type, decoder: JSONBodyDecoder(decoder), validation: validation)
    }

    /// Validates the response and decodes its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed``, whose underlying error is
    ///   Foundation's `DecodingError`; with ``SerializationError/Code/emptyBody`` if there is nothing to decode.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        try validation.validate(response)
        if response.body.isEmpty {
            return try emptyValue(of: Value.self, response) { try decoder.decode(Value.self, from: Data("{}".utf8)) }
        }
        return try decoded(response) { try decoder.decode(Value.self, from: response.body) }
    }
}

/// The value of a response without a body.
///
/// - Parameter decodeEmptyObject: Decodes the value from an object without keys.
func emptyValue<Value>(
    of type: Value.Type, _ response: SerializedResponse, decodeEmptyObject: () throws -> Value
) throws(SerializationError) -> Value {
    // In two steps, since a cast of an optional would look into it.
    if let empty = (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()), let value = empty as? Value {
        return value
    }
    if !response.allowsContent, let value = try? decodeEmptyObject() { return value }
    let status = response.head.status.code
    throw SerializationError(
        code: .emptyBody,
        message: "The response with status \(status) has no body to decode as \(type); ask for an optional type.",
        response: response
    )
}

/// Runs a decoder of Foundation's, and converts its error.
func decoded<Value>(
    _ response: SerializedResponse,
    _ decode: () throws -> Value
) throws(SerializationError) -> Value {
    do {
        return try decode()
    } catch {
        throw SerializationError(
            unreadable: response, "The body does not decode as \(Value.self)", reason: reason(of: error),
            underlying: error)
    }
}

/// Decodes a body that is a property list as a type.
///
/// An empty body is treated as ``DecodableResponseSerializer`` treats it. Coding leaves ``userInfo`` out.
public struct DecodablePropertyListResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with
    /// ``PropertyListResponseSerializer/propertyListContentTypes``.
    public var validation: ResponseValidation
    /// The limits for reading.
    public var options: PropertyListValue.ParsingOptions
    /// Passed to the type's `init(from:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    private enum CodingKeys: String, CodingKey { case validation, options }

    /// Creates a serializer.
    public init(
        _ type: Value.Type = Value.self,
        validation: ResponseValidation = ResponseValidation(
            contentTypes: PropertyListResponseSerializer.propertyListContentTypes
        ),
        options: PropertyListValue.ParsingOptions = PropertyListValue.ParsingOptions()
    ) {
        self.validation = validation
        self.options = options
    }

    /// Validates the response and decodes its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` or
    ///   ``SerializationError/Code/nestedTooDeep``, whose underlying error is a ``PropertyListSyntaxError`` or
    ///   Foundation's `DecodingError`; with ``SerializationError/Code/emptyBody`` if there is nothing to decode.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        try validation.validate(response)
        if response.body.isEmpty {
            return try emptyValue(of: Value.self, response) {
                try decode(PropertyListValue.dictionary([:]).written(.binary))
            }
        }
        // Foundation's decoder has no limits: a hundred thousand nested arrays end the process. XML is converted to
        // binary first, so that texts, numbers and dates follow one set of rules.
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
