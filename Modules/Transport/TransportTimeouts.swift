/// How long each step of a request may take.
///
/// Each entry has an error code of its own. In a request's own timeouts nil means "as the transport says"; in a
/// transport's configuration nil means "no limit".
public struct TransportTimeouts: Sendable, Hashable {
    /// Waiting for a connection to become free. Fails with ``TransportError/Code/poolTimeout``.
    public var poolWait: Duration?
    /// Resolving the name and opening the TCP connection. Fails with ``TransportError/Code/connectTimeout``.
    public var connect: Duration?
    /// The TLS handshake, judging the certificate included. Fails with ``TransportError/Code/tlsTimeout``.
    public var tlsHandshake: Duration?
    /// The time without a byte from the server while a response is due: once the request is out, and while the response's
    /// reader keeps up. Fails with ``TransportError/Code/readTimeout``.
    public var idleRead: Duration?
    /// The time in which the server takes nothing of the request's body, as far as the socket can tell. A body that goes
    /// out slowly but steadily may take as long as it needs. Fails with ``TransportError/Code/writeTimeout``.
    public var idleWrite: Duration?
    /// The whole request, from its start to the response's last byte. Fails with
    /// ``TransportError/Code/requestTimeout``.
    public var request: Duration?

    /// Timeouts with no entry set.
    public init(
        poolWait: Duration? = nil, connect: Duration? = nil, tlsHandshake: Duration? = nil,
        idleRead: Duration? = nil, idleWrite: Duration? = nil, request: Duration? = nil
    ) {
        self.poolWait = poolWait
        self.connect = connect
        self.tlsHandshake = tlsHandshake
        self.idleRead = idleRead
        self.idleWrite = idleWrite
        self.request = request
    }

    /// The defaults of a transport: 10 s each to connect and for TLS, 60 s for each of the idle times and for
    /// waiting in the pool, no limit for the whole.
    public static let `default` = TransportTimeouts(
        poolWait: .seconds(60), connect: .seconds(10), tlsHandshake: .seconds(10),
        idleRead: .seconds(60), idleWrite: .seconds(60))

    /// These timeouts, with what is nil taken from others.
    func merging(_ defaults: TransportTimeouts) -> TransportTimeouts {
        TransportTimeouts(
            poolWait: poolWait ?? defaults.poolWait, connect: connect ?? defaults.connect,
            tlsHandshake: tlsHandshake ?? defaults.tlsHandshake, idleRead: idleRead ?? defaults.idleRead,
            idleWrite: idleWrite ?? defaults.idleWrite, request: request ?? defaults.request)
    }
}
