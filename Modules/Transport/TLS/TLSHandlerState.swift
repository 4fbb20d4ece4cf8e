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

/// Fired inbound before the channel becomes inactive if the peer closed the connection without close_notify: its last
/// data may be truncated (RFC 8446, 6.1).
struct TLSTruncated {}

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
