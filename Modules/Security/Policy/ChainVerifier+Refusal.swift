internal import COpenSSL
internal import FoundationEssentials

extension ChainVerifier {
    /// Why OpenSSL refused, in our words.
    static func refusal(
        _ context: OpaquePointer, _ trust: ServerTrust, _ presented: [X509Handle]
    ) -> TrustRefusal {
        let code = X509_STORE_CTX_get_error(context)
        let text = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
        let culprit = X509_STORE_CTX_get_current_cert(context).map { X509Handle(sharing: $0) }
        let reason = reason(code)
        return TrustRefusal(
            reason, trust.host.oneLine + ": " + message(reason, culprit, text, presented: presented.count) + ".",
            trust: trust, verifyCode: code, certificate: culprit.map(CertificateSummary.init),
            seenPins: presented.map(\.pin))
    }

    /// OpenSSL failed where it should not.
    static func failure(_ what: String, _ trust: ServerTrust) -> TrustRefusal {
        TrustRefusal(
            .internalFailure, "\(trust.host.oneLine): OpenSSL \(what): \(OpenSSLErrorQueue.drain()).", trust: trust)
    }

    static func reason(_ code: Int32) -> TrustRefusal.Reason {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_CERT_UNTRUSTED:
            .unknownAuthority
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .hostnameMismatch
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_CA, X509_V_ERR_CERT_REJECTED,
            X509_V_ERR_KEYUSAGE_NO_CERTSIGN:
            .invalidPurpose
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .weakSecurity
        case X509_V_ERR_CERT_REVOKED: .revoked
        case X509_V_ERR_OUT_OF_MEM, X509_V_ERR_UNSPECIFIED: .internalFailure
        default: .chainInvalid
        }
    }

    private static func message(
        _ reason: TrustRefusal.Reason, _ culprit: X509Handle?, _ text: String, presented: Int
    ) -> String {
        guard let culprit else { return "the chain is refused: \(text)" }
        let subject = "the certificate \"\(culprit.subject.oneLine)\""
        switch reason {
        case .expired:
            return "\(subject) expired on \(culprit.notAfter.formatted(.iso8601))"
        case .notYetValid:
            return "\(subject) is not valid before \(culprit.notBefore.formatted(.iso8601)); is the clock right?"
        case .selfSigned:
            return "\(subject) is signed by itself and is no trusted anchor"
        case .unknownAuthority:
            let hint = presented == 1 ? "; does the server leave out an intermediate certificate?" : ""
            return "\(subject), issued by \"\(culprit.issuer.oneLine)\", leads to no trusted anchor\(hint)"
        case .hostnameMismatch:
            return "\(subject) is for other hosts: \(culprit.alternativeNames?.oneLine ?? "it names none")"
        default:
            return "\(subject) is refused: \(text)"
        }
    }
}

extension TrustRefusal {
    /// The host is nothing that a certificate could be for.
    static func unusableHost(_ reason: Reason, _ trust: ServerTrust) -> TrustRefusal {
        TrustRefusal(
            reason,
            "\"\(trust.host.oneLine)\" is no name in ASCII and no IP address; write other names as A-labels, \"xn--…\".",
            trust: trust)
    }
}
