public import FoundationEssentials

/// Reads a body that is a property list into a type of the caller's.
///
/// An empty body gives nil if the type is an optional, and is an error otherwise.
public struct DecodablePropertyListResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    /// What is accepted; the default is a status of 200 to 299 with
    /// ``PropertyListResponseSerializer/propertyListContentTypes``.
    public var validation: ResponseValidation
    /// The limits of what is read.
    public var options: PropertyListParsingOptions
    /// What reads the property list. It must not be changed once requests use it.
    public let decoder: PropertyListDecoder

    /// Creates a serializer.
    public init(
        _ type: Value.Type = Value.self,
        decoder: PropertyListDecoder = PropertyListDecoder(),
        validation: ResponseValidation = ResponseValidation(
            contentTypes: PropertyListResponseSerializer.propertyListContentTypes
        ),
        options: PropertyListParsingOptions = PropertyListParsingOptions()
    ) {
        self.decoder = decoder
        self.validation = validation
        self.options = options
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed`` or
    ///   ``SerializationError/Code/nestedTooDeep``; a ``PropertyListSyntaxError`` or Foundation's `DecodingError`
    ///   underlies it.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        try validation.validate(response)
        if response.body.isEmpty, let value = emptyValue(of: Value.self) { return value }
        // Foundation's decoder has no limits: a hundred thousand arrays within each other end the process. What is in XML it
        // gets in binary, so that texts, numbers and dates are read by one set of rules.
        let tree = try PropertyListResponseSerializer.read(response, options: options)
        let isBinary = response.body.starts(with: "bplist".utf8)
        let body = isBinary ? response.body : try tree.written(.binary)
        return try decoded(response) { try decoder.decode(Value.self, from: body) }
    }
}

/// What an empty body is read as: nil of an optional type, and nothing of others.
func emptyValue<Value>(of type: Value.Type) -> Value? {
    // In two steps, since a cast of an optional would look into it.
    guard let empty = (type as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) else { return nil }
    return empty as? Value
}

/// Runs a decoder of Foundation's, and makes a typed error of what it throws.
func decoded<Value>(
    _ response: SerializedResponse,
    _ decode: () throws -> Value
) throws(SerializationError) -> Value {
    do {
        return try decode()
    } catch {
        throw SerializationError(
            code: .decodingFailed,
            message: "The body does not decode as \(Value.self): \(error)",
            underlying: error,
            response: response
        )
    }
}
