/// What applies to one request only; a nil means "as the session is configured".
public struct RequestOptions: Sendable, Hashable {
    /// The longest time for the whole request, redirects and retries included.
    public var timeout: Duration?
    /// The longest time without a byte from the server.
    public var idleTimeout: Duration?
    /// The longest time to open a connection.
    public var connectTimeout: Duration?
    /// A mark of the caller's own, seen by interceptors and observers.
    public var tag: String?

    /// Creates options that leave everything to the session.
    public init() {}
}
