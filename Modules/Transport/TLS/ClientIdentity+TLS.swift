internal import COpenSSL
internal import LinnetSecurity
internal import Synchronization

extension ClientIdentity {
    /// Sets this identity on a connection. Returns false if OpenSSL refuses it.
    func use(on ssl: OpaquePointer) -> Bool {
        withHandles { leaf, key, issuers in
            let replacesOthers: Int32 = 1
            return SSL_use_cert_and_key(ssl, leaf, key, issuers, replacesOthers) == 1
        }
    }
}

/// The state of the server's request for a client certificate (RFC 8446, 4.3.2).
enum TLSCertificateRequest {
    /// The server has not requested one.
    case none
    /// The server requested one, and there is no identity for it.
    case unanswered
    /// The server requested one, and there is an identity.
    case answered
}

extension TransportError {
    /// Translates an alert (RFC 8446, 6.2) about the client certificate; nil for other errors.
    ///
    /// TLS 1.2 has no specific alert for a missing certificate.
    init?(_ errors: [OpenSSLError], after request: TLSCertificateRequest, identity: ClientIdentity?) {
        guard let error = errors.first(where: { $0.alert != nil }), let alert = error.alert else { return nil }
        switch (alert, request) {
        case (SSL3_AD_HANDSHAKE_FAILURE, .unanswered), (SSL3_AD_BAD_CERTIFICATE, .unanswered),
            (TLS1_AD_ACCESS_DENIED, .unanswered), (SSL_AD_CERTIFICATE_REQUIRED, _):
            self = .clientCertificateRequired(error, identity)
        case (SSL3_AD_BAD_CERTIFICATE, .answered), (SSL3_AD_UNSUPPORTED_CERTIFICATE, .answered),
            (SSL3_AD_CERTIFICATE_REVOKED, .answered), (SSL3_AD_CERTIFICATE_EXPIRED, .answered),
            (SSL3_AD_CERTIFICATE_UNKNOWN, .answered), (TLS1_AD_UNKNOWN_CA, .answered),
            (TLS1_AD_ACCESS_DENIED, .answered), (TLS1_AD_DECRYPT_ERROR, .answered):
            let flaws = identity?.findings().map { " " + $0.message } ?? []
            self.init(
                .clientCertificateRefused,
                "The server refused the \(identity?.description ?? "client's certificate"): \(error.description)."
                    + flaws.joined(), underlying: error)
        default: return nil
        }
    }

    /// The function that chooses the identity failed.
    static func noIdentityChosen(_ error: any Error) -> TransportError {
        TransportError(
            .clientIdentityUnavailable, "No client identity was chosen for the server: \(cause(error))",
            underlying: error)
    }

    /// The server requires a certificate and got none or an unsuitable one.
    static func clientCertificateRequired(_ error: OpenSSLError?, _ identity: ClientIdentity?) -> TransportError {
        let reason =
            identity.map { "the \($0) does not match its request" } ?? "there is no client identity for this host"
        let said = error.map { " (\($0.description))" } ?? ""
        return TransportError(
            .clientCertificateRequired, "The server requires a client certificate, and \(reason)\(said).",
            underlying: error)
    }
}

extension OpenSSLError {
    /// The number of a received alert (RFC 8446, 6), if the error is one.
    var alert: Int32? {
        guard library == ERR_LIB_SSL, (1000..<1256).contains(reason) else { return nil }
        return reason - Int32(SSL_AD_REASON_OFFSET)
    }
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
