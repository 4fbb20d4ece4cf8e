/// Makes another value of what a serializer reads.
public struct MapResponseSerializer<Base: ResponseSerializer, Value: Sendable>: ResponseSerializer {
    /// The serializer that reads the response.
    public var base: Base
    private let transform: @Sendable (Base.Value) throws -> Value

    init(_ base: Base, _ transform: @escaping @Sendable (Base.Value) throws -> Value) {
        self.base = base
        self.transform = transform
    }

    /// Reads the response and transforms its value.
    ///
    /// - Throws: ``SerializationError``: the base's, or one with ``SerializationError/Code/decodingFailed`` that what
    ///   the closure threw underlies.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        let value = try base.serialize(response)
        do {
            return try transform(value)
        } catch let error as SerializationError {
            throw error
        } catch {
            throw SerializationError(
                code: .decodingFailed,
                message: "What was read could not be made into \(Value.self): \(error)",
                underlying: error,
                response: response
            )
        }
    }
}

extension ResponseSerializer {
    /// A serializer that makes another value of what this one reads, such as a case of an enum for
    /// ``CompoundResponseSerializer``.
    public func map<Mapped: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Mapped
    ) -> MapResponseSerializer<Self, Mapped> {
        MapResponseSerializer(self, transform)
    }
}
