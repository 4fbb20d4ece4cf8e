public import LinnetSecurity
public import NIOCore

/// The configuration of an ``HTTPTransport``.
public struct TransportConfiguration: Sendable {
    /// The event loops of the connections.
    public enum EventLoops: Sendable {
        /// The event loops that the process shares; they are never stopped.
        case shared
        /// This number of threads for the transport alone; its shutdown stops them.
        case dedicated(threads: Int)
        /// A group that the caller owns, and stops after the transport.
        case group(any EventLoopGroup)
    }

    /// Limits on the number and age of connections.
    public struct PoolLimits: Sendable, Hashable {
        /// The maximum number of connections to one origin under one policy. The default is 8. Beyond it, requests
        /// wait, no longer than ``TransportTimeouts/poolWait``.
        public var connectionsPerOrigin = 8
        /// The maximum number of connections in total. The default is 256. Beyond it, requests wait, no longer than
        /// ``TransportTimeouts/poolWait``.
        public var connections = 256
        /// The longest time for which an unused connection is kept. The default is 60 seconds. Beyond it, the
        /// connection is closed.
        public var idleTimeout: Duration = .seconds(60)
        /// The longest time for which a connection serves requests, so that DNS changes take effect. The default is
        /// nil: no limit. Beyond it, later requests use another connection.
        public var maximumAge: Duration?

        /// The defaults.
        public init() {}
    }

    /// Limits on the parts of a response besides its body.
    ///
    /// The limits are on bytes. Small items count for more bytes than they have.
    public struct ResponseLimits: Sendable, Hashable {
        /// The maximum size of a response head, of its trailers, and of all informational responses before it. The
        /// default is 256 KiB; curl's limit is 300 KiB. Exceeding it is ``TransportError/Code/headTooLarge``, or
        /// ``TransportError/Code/tooManyInformationalResponses`` for the informational ones.
        ///
        /// Each informational response (RFC 9110, 15.2) counts for 64 bytes more than its size: a server can send about
        /// 4,000 empty ones, such as `102 Processing` every few seconds.
        public var headBytes = 256 * 1024
        /// The maximum number of fields in a response head or in its trailers, up to 30,000. The default is 5,000, as
        /// in curl. Exceeding it is ``TransportError/Code/headTooLarge``.
        public var headFields = 5_000

        /// The defaults.
        public init() {}

        /// The number of bytes that an informational response counts in addition to its size.
        static let informationalCost = 64
    }

    /// The event loops of the connections. The default is `.shared`.
    public var eventLoops: EventLoops = .shared
    /// Decides which servers are trusted. The default is the system's trust store.
    public var securityPolicy: SecurityPolicy = .systemTrust
    /// The identities for servers that request a client certificate. The default is none.
    public var clientIdentities: ClientIdentityPolicy = .none
    /// TLS versions, algorithms, resumption.
    public var tls = TransportConfiguration.TLS()
    /// How host names are resolved, which hosts are unix sockets, and the local address of connections.
    public var resolution = TransportConfiguration.Resolution()
    /// The proxies. The default is none: connections are direct, whatever the environment says.
    public var proxies: ProxyPolicy = .none
    /// The HTTP versions that connections may use. The default is `.automatic`.
    public var httpVersions = HTTPVersions.automatic
    /// Settings for HTTP/2 connections.
    public var http2 = TransportConfiguration.HTTP2()
    /// Limits on the number and age of connections.
    public var pool = PoolLimits()
    /// Limits on the parts of a response besides its body.
    public var limits = ResponseLimits()
    /// Time limits for the steps of a request; nil entries have no limit.
    public var timeouts: TransportTimeouts = .default
    /// The longest time for which a request with `Expect: 100-continue` waits for the server's answer (RFC 9110,
    /// 10.1.1). The field is not sent with a request without content. The default is 1 second. Beyond it, the request
    /// sends its body.
    public var continueTimeout: Duration = .seconds(1)
    /// Observes the connections. The default is none.
    public var connectionObserver: (any ConnectionObserver)?

    /// The defaults.
    public init() {}
}

/// The HTTP versions that connections may use.
public enum HTTPVersions: Sendable, Hashable {
    /// The server chooses: over TLS HTTP/2 or HTTP/1.1 through ALPN (RFC 7301); in clear text HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1
    /// HTTP/2 only. In clear text it starts with prior knowledge that the server supports it (RFC 9113, 3.3).
    case http2
}

extension HTTPVersions {
    /// The protocols that ALPN offers (RFC 7301), in order of preference.
    var applicationProtocols: [String] {
        switch self {
        case .automatic: ["h2", "http/1.1"]
        case .http1: ["http/1.1"]
        case .http2: ["h2"]
        }
    }
}
