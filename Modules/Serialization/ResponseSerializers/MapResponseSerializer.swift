/// Makes another value of what a serializer reads.
private struct MapResponseSerializer<Base: ResponseSerializer, Value: Sendable>: ResponseSerializer {
    let base: Base
    let transform: @Sendable (Base.Value) throws -> Value

    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        let value = try base.serialize(response)
        do {
            return try transform(value)
        } catch let error as SerializationError {
            throw error
        } catch {
            throw SerializationError(
                code: .decodingFailed,
                message: "The closure that makes a \(Value.self) of the value failed: \(reason(of: error)).",
                underlying: error,
                response: response
            )
        }
    }
}

extension ResponseSerializer {
    /// A serializer that makes another value of the value that this one reads, such as a case of an enum for
    /// ``CompoundResponseSerializer``.
    ///
    /// If the closure throws, the error is a ``SerializationError`` with ``SerializationError/Code/decodingFailed``, whose
    /// underlying error is the closure's.
    public func map<Mapped: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Mapped
    ) -> some ResponseSerializer<Mapped> {
        MapResponseSerializer(base: self, transform: transform)
    }
}
