public import LinnetSecurity
public import NIOCore

/// What an ``HTTPTransport`` is made with.
public struct TransportConfiguration: Sendable {
    /// Where the connections run.
    public enum EventLoops: Sendable {
        /// The event loops that the process shares; they are never stopped.
        case shared
        /// This many threads of the transport's own, ended by its shutdown.
        case dedicated(threads: Int)
        /// A group that belongs to the caller, who stops it after the transport.
        case group(any EventLoopGroup)
    }

    /// How many connections there may be.
    public struct PoolLimits: Sendable, Hashable {
        /// To one origin under one policy. The default is 8.
        public var connectionsPerOrigin = 8
        /// In total. The default is 256.
        public var connections = 256
        /// How long an unused connection is kept. The default is 60 seconds.
        public var idleTimeout: Duration = .seconds(60)
        /// How old a connection may be to serve another request, so that a change in where a name leads is followed in
        /// the end; nil for no limit. The default is nil.
        public var maximumAge: Duration?

        /// The defaults.
        public init() {}
    }

    /// How much a server may send beside the body.
    ///
    /// Honest servers send many small things: a limit is one on bytes, and what takes few of them counts for a few more.
    public struct ResponseLimits: Sendable, Hashable {
        /// Bytes of a response's head, of its trailers, or of all informational responses before it. The default is 256 KiB;
        /// curl takes 300 KiB.
        ///
        /// More in a head fails with ``TransportError/Code/headTooLarge``. An informational response (RFC 9110, 15.2) counts
        /// for 64 bytes more than it has, and more than the limit of them fail with
        /// ``TransportError/Code/tooManyInformationalResponses``: a server may send some 4,000 empty ones, as one does that
        /// says `102 Processing` every few seconds while it works.
        public var headBytes = 256 * 1024
        /// Fields in a response's head, or in its trailers, up to 65,534. The default is 5,000, which is curl's.
        public var headFields = 5_000

        /// The defaults.
        public init() {}

        /// What an informational response counts beside its bytes.
        static let informationalCost = 64
    }

    /// Where the connections run. The default is `.shared`.
    public var eventLoops: EventLoops = .shared
    /// Who is trusted. The default is the system's trust store.
    public var securityPolicy: SecurityPolicy = .systemTrust
    /// As whom the client shows itself to servers that ask for a certificate. The default is nobody.
    public var clientIdentities: ClientIdentityPolicy = .none
    /// TLS versions, algorithms, resumption.
    public var tls = TLSOptions()
    /// How names become addresses.
    public var resolution = ResolutionOptions()
    /// Which versions of HTTP a connection may speak. The default is `.automatic`.
    public var httpVersions = HTTPVersions.automatic
    /// How connections of HTTP/2 work.
    public var http2 = HTTP2Options()
    /// How many connections there may be.
    public var pool = PoolLimits()
    /// How much a server may send beside the body.
    public var limits = ResponseLimits()
    /// How long each step may take; nil entries have no limit.
    public var timeouts: TransportTimeouts = .default
    /// How long a request with `Expect: 100-continue` waits for the server's word before it sends its body all the
    /// same (RFC 9110, 10.1.1). The default is 1 second.
    public var continueTimeout: Duration = .seconds(1)

    /// The defaults.
    public init() {}
}
