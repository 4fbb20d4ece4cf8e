/// What one attempt of a request cost, step by step.
///
/// Copies are cheap: what is the same for all exchanges of a connection is shared.
public struct TransportMetrics: Sendable, Hashable {
    var times = Times()
    private var connection = SharedConnection.none

    /// Whether the connection had served a request before.
    public var isReusedConnection = false
    /// What is known of the request, where the attempt failed; nil where it did not. An attempt that another one follows was
    /// made again for this reason.
    public var failure: Failure?
    /// Bytes of the request's body that the socket took.
    public var requestBodyBytes: Int64 = 0
    /// Whether the rest of the request's body was not sent: the server refused the request, or ended the connection or
    /// the stream, before the socket had taken all of it, or the attempt failed. False where the whole request went out, and
    /// where it has no body.
    ///
    /// A success whose request was cut short is one of which the server has not seen the end: it gave a complete response
    /// and closed the connection (RFC 9112, 9.6), or asked the client to stop (RFC 9113, 8.1).
    public var isRequestBodyCutShort = false
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

// MARK: Times

extension TransportMetrics {
    /// A span of time on the monotonic clock.
    public struct Span: Sendable, Hashable {
        let from: Tick
        let to: Tick

        /// When it began.
        public var start: ContinuousClock.Instant { from.instant }
        /// When it ended.
        public var end: ContinuousClock.Instant { to.instant }
        /// How long it took.
        public var duration: Duration { .nanoseconds(to.nanoseconds - from.nanoseconds) }

        /// Makes a span.
        public init(start: ContinuousClock.Instant, end: ContinuousClock.Instant) {
            self.init(from: Tick(start), to: Tick(end))
        }

        init(from: Tick, to: Tick) {
            self.from = from
            self.to = to
        }
    }

    struct Times: Sendable, Hashable {
        var start = OptionalTick()
        var queue: Span?
        var nameResolution: Span?
        var connect: Span?
        var tlsHandshake: Span?
        var requestStart = OptionalTick()
        var requestEnd = OptionalTick()
        var responseStart = OptionalTick()
        var responseEnd = OptionalTick()
    }

    /// When the attempt began.
    public var start: ContinuousClock.Instant? {
        get { times.start.instant }
        set { times.start.instant = newValue }
    }

    /// Waiting for a connection, whether a pooled or a new one.
    public var queue: Span? {
        get { times.queue }
        set { times.queue = newValue }
    }

    /// Resolving the host's name; nil on a reused connection or for an IP address.
    public var nameResolution: Span? {
        get { times.nameResolution }
        set { times.nameResolution = newValue }
    }

    /// Opening the TCP connection; nil on a reused connection.
    public var connect: Span? {
        get { times.connect }
        set { times.connect = newValue }
    }

    /// The TLS handshake; nil on a reused connection and for plain HTTP.
    public var tlsHandshake: Span? {
        get { times.tlsHandshake }
        set { times.tlsHandshake = newValue }
    }

    /// When the request's head was written.
    public var requestStart: ContinuousClock.Instant? {
        get { times.requestStart.instant }
        set { times.requestStart.instant = newValue }
    }

    /// When the socket took the request's last byte; nil for one that was cut short.
    public var requestEnd: ContinuousClock.Instant? {
        get { times.requestEnd.instant }
        set { times.requestEnd.instant = newValue }
    }

    /// When the head of the final response arrived.
    public var responseStart: ContinuousClock.Instant? {
        get { times.responseStart.instant }
        set { times.responseStart.instant = newValue }
    }

    /// When the response's last byte arrived.
    public var responseEnd: ContinuousClock.Instant? {
        get { times.responseEnd.instant }
        set { times.responseEnd.instant = newValue }
    }

    /// For an exchange on a connection whose opening these metrics describe.
    func beginning(queuedSince start: Tick, isReused: Bool) -> TransportMetrics {
        var metrics = self
        if isReused { metrics.times = Times() }
        metrics.isReusedConnection = isReused
        metrics.times.start.tick = start
        metrics.times.queue = Span(from: start, to: .now)
        return metrics
    }
}

// MARK: The connection

extension TransportMetrics {
    struct Connection: Sendable, Hashable {
        var id: UInt64 = 0
        var localAddress: String?
        var remoteAddress: String?
        var httpVersion: String?
        var tlsVersion: String?
        var tlsCipher: String?
        var isResumedTLSSession = false
        var isKeyLogged = false
        var verifiedPins: [String] = []
        var isPinned = false
    }

    /// What does not change with an exchange, behind one reference.
    private final class SharedConnection: Sendable, Hashable {
        static let none = SharedConnection(Connection())
        let value: Connection

        init(_ value: Connection) { self.value = value }

        static func == (a: SharedConnection, b: SharedConnection) -> Bool { a === b || a.value == b.value }
        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }

    var facts: Connection {
        get { connection.value }
        set { connection = SharedConnection(newValue) }
    }

    /// Distinguishes the connections of one transport; the first is 1.
    public var connectionID: UInt64 {
        get { connection.value.id }
        set { facts.id = newValue }
    }

    /// The local address and port.
    public var localAddress: String? {
        get { connection.value.localAddress }
        set { facts.localAddress = newValue }
    }

    /// The remote address and port.
    public var remoteAddress: String? {
        get { connection.value.remoteAddress }
        set { facts.remoteAddress = newValue }
    }

    /// The protocol: `http/1.1`, or `h2` for HTTP/2.
    public var httpVersion: String? {
        get { connection.value.httpVersion }
        set { facts.httpVersion = newValue }
    }

    /// The TLS version: `TLSv1.2` or `TLSv1.3`; nil for plain HTTP.
    public var tlsVersion: String? {
        get { connection.value.tlsVersion }
        set { facts.tlsVersion = newValue }
    }

    /// The cipher suite's IANA name; nil for plain HTTP.
    public var tlsCipher: String? {
        get { connection.value.tlsCipher }
        set { facts.tlsCipher = newValue }
    }

    /// Whether the connection's handshake resumed a TLS session of an earlier one (RFC 8446, 2.2): the server showed no
    /// certificate, and ``verifiedPins`` and ``isPinned`` are those of the verdict on the earlier connection's chain.
    public var isResumedTLSSession: Bool {
        get { connection.value.isResumedTLSSession }
        set { facts.isResumedTLSSession = newValue }
    }

    /// Whether the connection's keys were written to ``TLSOptions/keyLog``: whoever has that reads what was sent.
    public var isKeyLogged: Bool {
        get { connection.value.isKeyLogged }
        set { facts.isKeyLogged = newValue }
    }

    /// The pins of the certificate chain that was accepted, leaf first, each as `sha256/BASE64`.
    public var verifiedPins: [String] {
        get { connection.value.verifiedPins }
        set { facts.verifiedPins = newValue }
    }

    /// Whether a pin of the policy matched; false where trust rested on the system's anchors alone.
    public var isPinned: Bool {
        get { connection.value.isPinned }
        set { facts.isPinned = newValue }
    }
}
