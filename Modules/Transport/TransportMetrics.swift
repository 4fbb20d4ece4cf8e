/// What one attempt of a request cost, step by step.
public struct TransportMetrics: Sendable, Hashable {
    /// A span of time on the monotonic clock.
    public struct Span: Sendable, Hashable {
        /// When it began.
        public var start: ContinuousClock.Instant
        /// When it ended.
        public var end: ContinuousClock.Instant
        /// How long it took.
        public var duration: Duration { end - start }

        /// Makes a span.
        public init(start: ContinuousClock.Instant, end: ContinuousClock.Instant) {
            self.start = start
            self.end = end
        }
    }

    /// When the attempt began.
    public var start: ContinuousClock.Instant?
    /// Waiting for a connection, whether a pooled or a new one.
    public var queue: Span?
    /// Resolving the host's name; nil on a reused connection or for an IP address.
    public var nameResolution: Span?
    /// Opening the TCP connection; nil on a reused connection.
    public var connect: Span?
    /// The TLS handshake; nil on a reused connection and for plain HTTP.
    public var tlsHandshake: Span?
    /// When the request's head was written.
    public var requestStart: ContinuousClock.Instant?
    /// When the request's last byte was written.
    public var requestEnd: ContinuousClock.Instant?
    /// When the head of the final response arrived.
    public var responseStart: ContinuousClock.Instant?
    /// When the response's last byte arrived.
    public var responseEnd: ContinuousClock.Instant?

    /// Whether the connection had served a request before.
    public var isReusedConnection = false
    /// Distinguishes the connections of one transport; the first is 1.
    public var connectionID: UInt64 = 0
    /// The local address and port.
    public var localAddress: String?
    /// The remote address and port.
    public var remoteAddress: String?
    /// The protocol: `http/1.1` or `h2`.
    public var httpVersion: String?
    /// The TLS version: `TLSv1.2` or `TLSv1.3`; nil for plain HTTP.
    public var tlsVersion: String?
    /// The cipher suite's IANA name; nil for plain HTTP.
    public var tlsCipher: String?
    /// The pins of the certificate chain that was accepted, leaf first, each as `sha256/BASE64`.
    public var verifiedPins: [String] = []
    /// Whether a pin of the policy matched; false where trust rested on the system's anchors alone.
    public var isPinned = false
    /// Bytes of the request's body that the socket took.
    public var requestBodyBytes: Int64 = 0
    /// Bytes of the response's body, before any decoding.
    public var responseBodyBytes: Int64 = 0

    /// Makes empty metrics.
    public init() {}

    /// From the attempt's start to its last recorded step.
    public var total: Duration? {
        guard let start, let end = responseEnd ?? responseStart ?? requestEnd ?? requestStart ?? queue?.end else {
            return nil
        }
        return end - start
    }
}
