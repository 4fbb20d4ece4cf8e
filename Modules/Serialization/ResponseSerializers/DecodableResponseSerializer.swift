public import FoundationEssentials

/// Reads a JSON body into a type of the caller's.
///
/// ```swift
/// let serializer = DecodableResponseSerializer([Post].self)
/// ```
/// An empty body gives nil if the type is an optional, and is an error otherwise.
public struct DecodableResponseSerializer<Value: Decodable & Sendable>: ResponseSerializer {
    /// What is accepted; the default is a status of 200 to 299 with ``JSONResponseSerializer/jsonContentTypes``.
    public var validation: ResponseValidation
    /// What reads the JSON. It must not be changed once requests use it.
    public let decoder: JSONDecoder

    /// Creates a serializer.
    public init(
        _ type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder(),
        validation: ResponseValidation = ResponseValidation(contentTypes: JSONResponseSerializer.jsonContentTypes)
    ) {
        self.decoder = decoder
        self.validation = validation
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/decodingFailed``; Foundation's `DecodingError`
    ///   underlies it.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        try validation.validate(response)
        if response.body.isEmpty, let value = emptyValue(of: Value.self) { return value }
        return try decoded(response) { try decoder.decode(Value.self, from: response.body) }
    }
}
