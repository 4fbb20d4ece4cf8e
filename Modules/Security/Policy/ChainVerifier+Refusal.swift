internal import COpenSSL
internal import FoundationEssentials

extension ChainVerifier {
    /// Why OpenSSL refused, in our words; in a rule's where one says more.
    func refusal(
        _ context: OpaquePointer, _ trust: ServerTrust, _ presented: [X509Handle]
    ) -> TrustRefusal {
        var refusal = Self.openSSLRefusal(context, trust, presented)
        let code = X509_STORE_CTX_get_error(context)
        guard let pointer = X509_STORE_CTX_get_current_cert(context) else { return refusal }
        let culprit = presented.first { $0.pointer == pointer } ?? X509Handle(sharing: pointer)
        guard let facts = culprit.facts else { return refusal }
        let position: ChainLink.Position = X509_STORE_CTX_get_error_depth(context) == 0 ? .leaf : .intermediate
        let link = ChainLink(facts: facts, position: position, profile: profile)
        for rule in Self.rules(behind: code, facts) where profile.rules.contains(rule) && rule.applies(to: position) {
            guard let finding = rule.check(link) else { continue }
            refusal.reason = rule.reason
            refusal.message = Self.message(rule, finding, culprit, trust)
            break
        }
        return refusal
    }

    /// The rules whose breach OpenSSL reports by a number.
    private static func rules(behind code: Int32, _ facts: CertificateFacts) -> [ChainRule] {
        switch code {
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK,
            X509_V_ERR_EC_KEY_EXPLICIT_PARAMS, X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY:
            ChainRule.keys + ChainRule.signatures
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: [.signatureAlgorithmMismatch, .signatureAlgorithm]
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: [.unprocessedCriticalExtension, .extensionMustNotBeCritical]
        case X509_V_ERR_INVALID_CA: facts.known.basicConstraints == nil ? [.missingBasicConstraints] : []
        case X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD, X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD: [.validityEncoding]
        // OpenSSL finds no issuer for what it cannot read.
        case X509_V_ERR_INVALID_EXTENSION, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            [.duplicateExtension, .malformedExtension, .emptyKeyUsage]
        default: []
        }
    }

    private static func openSSLRefusal(
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
            .internalFailure, "\(trust.host.oneLine): OpenSSL \(what): \(OpenSSLErrorQueue.drain().summary).",
            trust: trust)
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
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX:
            .nameNotPermitted
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
