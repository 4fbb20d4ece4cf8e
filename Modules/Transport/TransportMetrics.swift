/// The timings and properties of one attempt to send a request.
///
/// Copies are cheap: exchanges on the same connection share its properties.
public struct TransportMetrics: Sendable, Hashable {
    var times = Times()
    private var connection = SharedConnection.none

    /// Whether the connection had served a request before.
    public var isReusedConnection = false
    /// Why the attempt failed; nil if it did not. If another attempt follows, this is the reason for it.
    public var failure: Failure?
    /// The number of bytes of the request body that the socket accepted.
    public var requestBodyBytes: Int64 = 0
    /// Whether part of the request body was not sent: the server refused the request or ended the connection or stream
    /// before the socket had accepted all of it, or the attempt failed. False if the whole request was sent or has no
    /// body.
    ///
    /// If true for a successful response, the server did not read the end of the request: it sent a complete response
    /// and closed the connection (RFC 9112, 9.6), or asked the client to stop (RFC 9113, 8.1).
    public var isRequestBodyCutShort = false
    /// The number of bytes of the response body, before content decoding.
    public var responseBodyBytes: Int64 = 0

    /// Creates empty metrics.
    public init() {}

    /// The time from the start of the attempt to its last recorded step.
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

        /// Creates a span.
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

    /// The wait for a place on a connection, from ``start``. If the attempt is the first on a connection that was
    /// opened for it, the wait ends at the beginning of ``nameResolution`` or ``connect``, and otherwise when a place
    /// was free. It contains earlier attempts to open a connection, each of which has its own metrics. For a request
    /// that shares a connection, it contains the time until that is open.
    ///
    /// The spans ``queue``, ``nameResolution``, ``connect`` and ``tlsHandshake`` follow one another and do not overlap;
    /// ``requestStart`` is later. On a connection that was opened before the attempt, as by
    /// ``HTTPTransport/prewarm(_:connections:)``, they are earlier than ``start``, apart from an empty `queue`.
    public var queue: Span? {
        get { times.queue }
        set { times.queue = newValue }
    }

    /// Resolving the name of the host, or of the proxy; nil on a reused connection, for an IP address and for a unix
    /// socket.
    public var nameResolution: Span? {
        get { times.nameResolution }
        set { times.nameResolution = newValue }
    }

    /// Opening the connection of the socket, with the handshake of the proxy if there is one; nil on a reused
    /// connection.
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

    /// When the socket accepted the request's last byte; nil if the request was cut short.
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

    /// Returns the metrics of a new exchange on the connection that these metrics describe.
    func beginning(queuedSince start: Tick, isReused: Bool) -> TransportMetrics {
        var metrics = self
        if isReused { metrics.times = Times() }
        metrics.isReusedConnection = isReused
        metrics.times.start.tick = start
        // The rest of the time until now was spent on opening the connection.
        let opening = metrics.times.nameResolution?.from ?? metrics.times.connect?.from
        metrics.times.queue = Span(from: start, to: opening.map { max(start, $0) } ?? .now)
        return metrics
    }
}

// MARK: The connection

extension TransportMetrics {
    struct Connection: Sendable, Hashable {
        var id: UInt64 = 0
        var localAddress: String?
        var remoteAddress: String?
        var proxy: String?
        var httpVersion: String?
        var tlsVersion: String?
        var tlsCipher: String?
        var isResumedTLSSession = false
        var isKeyLogged = false
        var verifiedPins: [String] = []
        var isPinned = false
        var isTrustVerified = false
    }

    /// The properties shared by all exchanges on a connection.
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

    /// The number of the connection within its transport; the first is 1.
    public var connectionID: UInt64 {
        get { connection.value.id }
        set { facts.id = newValue }
    }

    /// The local address and port; nil for a unix socket.
    public var localAddress: String? {
        get { connection.value.localAddress }
        set { facts.localAddress = newValue }
    }

    /// The remote address and port, or the proxy's if there is one. For a unix socket, `unix:` and its path.
    public var remoteAddress: String? {
        get { connection.value.remoteAddress }
        set { facts.remoteAddress = newValue }
    }

    /// The host, without brackets, and the port of ``remoteAddress``; nil for a unix socket.
    package var remoteEndpoint: (host: String, port: Int)? {
        guard let text = remoteAddress?.utf8, !text.starts(with: "unix:".utf8),
            let colon = text.lastIndex(of: UInt8(ascii: ":")),
            let port = Int(Substring(text[text.index(after: colon)...]))
        else { return nil }
        let host = text[..<colon]
        let isBracketed = host.first == UInt8(ascii: "[") && host.last == UInt8(ascii: "]")
        return (String(Substring(isBracketed ? host.dropFirst().dropLast() : host)), port)
    }

    /// The proxy's URL, without its user name and password; nil for a direct connection.
    public var proxy: String? {
        get { connection.value.proxy }
        set { facts.proxy = newValue }
    }

    /// The protocol: `http/1.1` or `h2`.
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

    /// Whether the handshake resumed an earlier TLS session (RFC 8446, 2.2). The server then sent no certificate, and
    /// ``verifiedPins`` and ``isPinned`` come from the earlier connection.
    public var isResumedTLSSession: Bool {
        get { connection.value.isResumedTLSSession }
        set { facts.isResumedTLSSession = newValue }
    }

    /// Whether the connection's keys were written to ``TransportConfiguration/TLS/keyLog``, with which its traffic can
    /// be decrypted.
    public var isKeyLogged: Bool {
        get { connection.value.isKeyLogged }
        set { facts.isKeyLogged = newValue }
    }

    /// The pins of the accepted chain, leaf first, each in the form `sha256/BASE64`.
    public var verifiedPins: [String] {
        get { connection.value.verifiedPins }
        set { facts.verifiedPins = newValue }
    }

    /// Whether a pin of the policy matched.
    public var isPinned: Bool {
        get { connection.value.isPinned }
        set { facts.isPinned = newValue }
    }

    /// Whether the server's chain was verified up to an anchor or matched a pin, and its certificate matched the host.
    package var isTrustVerified: Bool {
        get { connection.value.isTrustVerified }
        set { facts.isTrustVerified = newValue }
    }
}

extension TransportMetrics {
    /// Why an attempt failed, in terms of whether the server can have processed the request.
    ///
    /// It determines whether the request is repeated; see ``HTTPTransport/send(_:observer:)``.
    public struct Failure: Hashable, Sendable, CustomStringConvertible {
        private let number: UInt8

        /// No connection could be opened.
        public static let notConnected = Failure(number: 0)
        /// The connection had ended before the request's first byte.
        public static let notSent = Failure(number: 1)
        /// The server reported that it did not process the request (RFC 9113, 8.7): it refused the stream, or sent
        /// GOAWAY for an earlier one.
        public static let notProcessed = Failure(number: 2)
        /// The connection had been idle before the request and ended without a byte of response: the server may have
        /// closed it before, or may have processed the request (RFC 9112, 9.3.1).
        public static let staleConnection = Failure(number: 3)
        /// Any other failure: the server may have processed the request, or the request itself is invalid.
        public static let other = Failure(number: 4)

        /// The failure's name.
        public var description: String {
            switch self {
            case .notConnected: "notConnected"
            case .notSent: "notSent"
            case .notProcessed: "notProcessed"
            case .staleConnection: "staleConnection"
            default: "other"
            }
        }
    }
}
