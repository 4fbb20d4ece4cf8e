internal import Synchronization

/// What a server of TLS 1.3 says of a client's certificate when the handshake is over, for the client (RFC 8446, 4.4.2.4): it
/// can come before the request begins, and then nobody is there yet to hear of it.
final class TLSLateFailure: Sendable {
    private let noted = Mutex<TransportError?>(nil)

    var error: TransportError? { noted.withLock { $0 } }

    /// The first one counts.
    func note(_ error: TransportError) {
        noted.withLock { $0 = $0 ?? error }
    }
}
