/// Writes parameters into a request, and adds the header fields that go with them.
///
/// A serializer is a value: whoever holds one keeps it as it was, and a request in flight keeps the one it started
/// with.
public protocol RequestSerializer: Sendable {
    /// Returns the request with the parameters in its URL or body.
    ///
    /// A header field that the request has already is never replaced.
    func serialize(_ request: Request, parameters: Parameters?) throws(SerializationError) -> Request
}
