public import FoundationEssentials
internal import Synchronization

/// A proxy on a free port of the loopback address that delays, slows and cuts the connections through it: between a
/// client and any server on this machine, whatever they speak.
///
/// ```swift
/// let proxy = try await FaultProxy.start { $0.latency = .milliseconds(50) }
/// let session = try HTTPSession { $0.proxies = .fixed(try Proxy(proxy.socksURL.absoluteString)) }
/// proxy.conditions.cut = .init(.reset, after: 10_000, of: .fromServer)
/// ```
///
/// It speaks the CONNECT method of HTTP (RFC 9110, 9.3.6) and SOCKS5 without a login (RFC 1928), told apart by the
/// first byte, or forwards each connection to one destination. It connects to 127.0.0.1, and gives a host name below
/// `test` the same address. A client's requests with an absolute URL, which a proxy of HTTP gets for the scheme `http`,
/// are refused with status 405: use SOCKS for them.
public final class FaultProxy: Sendable {
    /// The way of bytes.
    public enum Direction: Sendable, Hashable {
        /// From the client to the server.
        case fromClient
        /// From the server to the client.
        case fromServer
    }

    /// The end of a connection in the middle of its bytes.
    public struct Cut: Sendable, Hashable {
        /// The effect for the client, as over HTTP/1.1. An effect that does not end the connection is followed by
        /// `close`. The server's side is closed.
        public var effect: MockServer.Fault.Effect
        /// The number of bytes that pass before the cut, without those of the proxy's protocol.
        public var bytes: Int
        /// The direction in which they are counted.
        public var direction: Direction

        /// Creates a cut.
        public init(_ effect: MockServer.Fault.Effect, after bytes: Int, of direction: Direction) {
            self.effect = effect
            self.bytes = bytes
            self.direction = direction
        }
    }

    /// The conditions of the connections.
    public struct Conditions: Sendable, Hashable {
        /// How long each piece of up to 64 KiB waits in each direction. The default is zero.
        public var latency = Duration.zero
        /// The limit of a connection in each direction. The default, nil, is none.
        public var bytesPerSecond: Int?
        /// Cuts connections. The default, nil, cuts none.
        public var cut: Cut?

        /// Creates conditions that change nothing.
        public init() {}
    }

    private let server: MockServer
    private let link: ProxyLink

    /// The conditions of pieces that arrive from now on, also on open connections.
    public var conditions: Conditions {
        get { link.conditions.withLock { $0 } }
        set { link.conditions.withLock { $0 = newValue } }
    }

    /// The port.
    public var port: Int { server.port }
    /// The URL of the proxy of HTTP: `http://127.0.0.1:port`.
    public var httpURL: URL { server.url }
    /// The URL of the proxy of SOCKS: `socks5h://127.0.0.1:port`.
    public let socksURL: URL
    /// The number of connections that were accepted so far.
    public var acceptedConnections: Int { server.acceptedConnections }
    /// The number of open connections.
    public var openConnections: Int { server.openConnections }
    /// The failures of connections so far, for example a destination that refused.
    public var connectionFailures: [MockServer.ConnectionFailure] { server.connectionFailures }

    private init(_ server: MockServer, _ link: ProxyLink) throws(TestingError) {
        guard let socksURL = URL(string: "socks5h://127.0.0.1:\(server.port)") else {
            throw TestingError(.invalidURL, "The proxy has no URL.")
        }
        self.server = server
        self.link = link
        self.socksURL = socksURL
    }

    /// Starts a proxy.
    ///
    /// - Parameters:
    ///   - port: The port of 127.0.0.1 to which each connection is forwarded. With nil, the default, clients name their
    ///     destinations by CONNECT or SOCKS.
    ///   - clock: The clock of latency and bandwidth. The default is the continuous clock.
    ///   - configure: Changes the conditions.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotListen``.
    public static func start(
        forwardingTo port: Int? = nil, clock: any Clock<Duration> = ContinuousClock(),
        _ configure: (inout Conditions) -> Void = { _ in }
    ) async throws(TestingError) -> FaultProxy {
        var conditions = Conditions()
        configure(&conditions)
        let link = ProxyLink(conditions, clock)
        let server = try await MockServer.startRaw { connection in
            if let port { return try await link.carry(connection, to: .init(host: "127.0.0.1", port: port)) }
            var handshake = ProxyHandshake(connection)
            try await handshake.run { try await link.carry(connection, to: $0, answering: $1) }
        }
        return try FaultProxy(server, link)
    }

    /// Stops listening, closes all connections, and returns when they are gone.
    public func shutdown() async { await server.shutdown() }
}
