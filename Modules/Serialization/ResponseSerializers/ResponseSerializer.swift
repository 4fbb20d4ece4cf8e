/// Validates a response and reads its body as a value.
///
/// The serializers of this module are static members, so that a call reads `serializer: .string`.
public protocol ResponseSerializer<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with the response and its body. An unacceptable status is reported as such, even if
    ///   the body cannot be read either.
    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// Returns the body as it is, with the default validation.
    public static var data: Self { Self() }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// Reads the body as text, with the defaults.
    public static var string: Self { Self() }
}

extension ResponseSerializer where Self == JSONResponseSerializer {
    /// Reads the body as a ``JSONValue``, with the defaults.
    public static var json: Self { Self() }
}

extension ResponseSerializer where Self == PropertyListResponseSerializer {
    /// Reads the body as a ``PropertyListValue``, with the defaults.
    public static var propertyList: Self { Self() }
}

extension ResponseSerializer {
    /// Decodes a JSON body as a type.
    public static func decodable<T>(_ type: T.Type, decoder: JSONBodyDecoder = JSONBodyDecoder()) -> Self
    where Self == DecodableResponseSerializer<T> {
        Self(type, decoder: decoder)
    }

    /// Decodes a body that is a property list as a type.
    public static func propertyList<T>(_ type: T.Type) -> Self
    where Self == DecodablePropertyListResponseSerializer<T> {
        Self(type)
    }
}
