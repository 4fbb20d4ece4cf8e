/// Reads a response into a value, after it has been found acceptable.
public protocol ResponseSerializer<Value>: Sendable {
    /// What is read.
    associatedtype Value: Sendable

    /// Validates the response and reads its body.
    ///
    /// - Throws: ``SerializationError`` with the response and its body. An unacceptable status is reported as such,
    ///   also when the body cannot be read either.
    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value
}
