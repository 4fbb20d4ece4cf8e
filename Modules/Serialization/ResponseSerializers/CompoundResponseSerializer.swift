/// Tries serializers in order, and gives what the first reads that can.
///
/// ```swift
/// enum Content: Sendable { case json(JSONValue?), text(String) }
/// let serializer = CompoundResponseSerializer([
///     JSONResponseSerializer().map(Content.json), StringResponseSerializer().map(Content.text),
/// ])
/// ```
/// The order is AFNetworking's. Where AFNetworking drops the errors of the members that could not, here
/// ``CompoundError`` keeps them all. One that reads anything, such as ``DataResponseSerializer``, belongs at the end.
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    /// The members, in the order in which they are tried.
    public var members: [any ResponseSerializer<Value>]

    /// Creates a serializer.
    public init(_ members: [any ResponseSerializer<Value>]) { self.members = members }

    /// Reads the response with the first member that can.
    ///
    /// - Throws: ``SerializationError``, with ``CompoundError`` underlying it, when no member can. Its code is
    ///   ``SerializationError/Code/unacceptableStatus`` if that is what a member says, otherwise the code that all of them
    ///   give, otherwise ``SerializationError/Code/decodingFailed``.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> Value {
        var errors: [SerializationError] = []
        for member in members {
            do {
                return try Self.read(response, with: member)
            } catch {
                errors.append(error)
            }
        }
        throw Self.failure(errors, response)
    }

    private static func read(
        _ response: SerializedResponse,
        with member: some ResponseSerializer<Value>
    ) throws(SerializationError) -> Value {
        try member.serialize(response)
    }

    private static func failure(_ errors: [SerializationError], _ response: SerializedResponse) -> SerializationError {
        let statusError = errors.first { $0.code == .unacceptableStatus }
        let codes = Set(errors.map(\.code))
        let common = codes.count == 1 ? codes.first : nil
        let reasons = errors.map(\.message).joined(separator: " ")
        return SerializationError(
            code: statusError?.code ?? common ?? .decodingFailed,
            message: statusError?.message ?? "None of \(errors.count) serializers could read the response. \(reasons)",
            underlying: CompoundError(errors: errors),
            response: response
        )
    }
}

/// Why no member of a ``CompoundResponseSerializer`` could read a response.
public struct CompoundError: Error, Sendable, CustomStringConvertible {
    /// The members' errors, in their order.
    public let errors: [SerializationError]

    /// The errors, one a line.
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}
