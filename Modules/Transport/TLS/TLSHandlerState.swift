package import FoundationEssentials

/// Where a TLS channel stands.
enum TLSHandlerState {
    /// The channel is not open yet.
    case idle
    /// Handshake messages go to and fro.
    case handshaking
    /// The server's chain is being judged, off the event loop.
    case awaitingVerdict
    /// It is being chosen whom the client shows itself to be, off the event loop.
    case awaitingIdentity
    /// Application data flows.
    case active
    /// close_notify was said or heard, the channel is about to close.
    case closing
    /// Nothing goes in or out any more.
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
    /// What ALPN chose.
    package let applicationProtocol: String?
    /// The name that the client asked for.
    package let serverName: String?
    /// On a server, the certificate that the client showed, in DER.
    package let clientCertificate: Data?
}

/// Fired inbound before the channel goes inactive, when the peer ended the connection without close_notify: what it
/// sent last may be cut short (RFC 8446, 6.1).
package struct TLSTruncated: Sendable {
    package init() {}
}

/// Triggered outbound, on a test server: a later close is without close_notify.
package struct TLSAbandon: Sendable {
    package init() {}
}
