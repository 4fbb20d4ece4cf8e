public import FoundationEssentials
internal import HTTPTypes
public import LinnetSerialization

// These functions run in the caller's task: no other is made, and cancelling it cancels the transfer, with
// ``SessionError/Code/cancelled``. A status that the serializer's validation refuses, by default one that is not 200 to
// 299, fails with ``SessionError/Code/unacceptableStatus``, and the error has the response's head and body. Streams
// take a validation of their own, with the same default.
extension HTTPCall {
    /// Sends the request, and returns the response read by a serializer: `call.response(.string)`.
    @discardableResult
    public func response<S: ResponseSerializer>(_ serializer: S) async throws(SessionError) -> SessionResponse<S.Value>
    {
        guard let extras else { return try await session.response(for: request(), serializer: serializer) }
        return try await session.response(for: request(), serializer: serializer, extras: extras)
    }

    /// Sends the request, and returns the response with the unchanged body; it is empty for HEAD.
    @discardableResult
    public func response() async throws(SessionError) -> SessionResponse<Data> {
        try await response(DataResponseSerializer())
    }

    /// Sends the request, and returns the response with its JSON body decoded as a type.
    ///
    /// The request accepts `application/json`, unless the call, the session or its request serializer sets Accept.
    public func response<T: Decodable & Sendable>(as type: T.Type) async throws(SessionError) -> SessionResponse<T> {
        try await acceptingJSON().response(session.initialConfiguration.serializer(for: type))
    }

    /// Sends the request, and returns its JSON body decoded as a type, like ``response(as:)``.
    public func value<T: Decodable & Sendable>(as type: T.Type = T.self) async throws(SessionError) -> T {
        try await response(as: type).value
    }

    /// Sends the request, and returns its body as JSON; nil for an empty body.
    public func json() async throws(SessionError) -> JSONValue? {
        try await acceptingJSON().response(session.initialConfiguration.responseSerializer).value
    }

    /// Sends the request, and returns the body's bytes.
    public func data() async throws(SessionError) -> Data { try await response().value }

    /// Sends the request, and returns the body as a text, in the response's charset, or else UTF-8.
    public func text() async throws(SessionError) -> String { try await response(StringResponseSerializer()).value }

    /// Returns the call with an Accept field for JSON, if nothing else sets one.
    func acceptingJSON() -> HTTPCall {
        changed { $0.acceptsJSON = true }
    }
}
