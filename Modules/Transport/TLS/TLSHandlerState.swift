package import FoundationEssentials
internal import Synchronization

/// The state of a TLS channel.
enum TLSHandlerState {
    /// The channel is not open yet.
    case idle
    /// Handshake messages are exchanged.
    case handshaking
    /// The server's chain is being evaluated, off the event loop.
    case awaitingVerdict
    /// The client identity is being chosen, off the event loop.
    case awaitingIdentity
    /// Application data is exchanged.
    case active
    /// close_notify was sent or received; the channel is about to close.
    case closing
    /// The channel is closed.
    case closed

    var isHandshake: Bool {
        switch self {
        case .handshaking, .awaitingVerdict, .awaitingIdentity: true
        case .idle, .active, .closing, .closed: false
        }
    }
}

/// Fired inbound when the handshake is complete.
package struct TLSHandshakeCompleted: Sendable {
    /// `TLSv1.2` or `TLSv1.3`.
    package let version: String
    /// The cipher suite's IANA name.
    package let cipher: String
    /// The protocol that ALPN selected.
    package let applicationProtocol: String?
    /// The server name that the client sent.
    package let serverName: String?
    /// On a server, the client's certificate in DER.
    package let clientCertificate: Data?
}

/// Fired inbound before the channel becomes inactive if the peer closed the connection without close_notify: its last
/// data may be truncated (RFC 8446, 6.1).
package struct TLSTruncated: Sendable {
    package init() {}
}

/// Triggered outbound on a test server: a later close omits close_notify.
package struct TLSAbandon: Sendable {
    package init() {}
}

/// A failure of the client certificate that a TLS 1.3 server reports after the handshake (RFC 8446, 4.4.2.4), possibly
/// before a request has started.
final class TLSLateFailure: Sendable {
    private let noted = Mutex<TransportError?>(nil)

    var error: TransportError? { noted.withLock { $0 } }

    /// Records a failure. Only the first one counts.
    func note(_ error: TransportError) {
        noted.withLock { $0 = $0 ?? error }
    }
}
