internal import COpenSSL
internal import FoundationEssentials

/// Builds and checks a chain with OpenSSL (RFC 5280, 6).
struct ChainVerifier {
    /// More certificates or bytes than any honest server sends.
    static let maximumCertificates = 32
    static let maximumBytes = 256 * 1024

    let anchors: TrustAnchors
    let validatesHost: Bool

    /// The chain from the leaf to the anchor.
    func verify(_ trust: ServerTrust) throws(TrustRefusal) -> [X509Handle] {
        let presented = try Self.parse(trust)
        let store: TrustStore
        do {
            store = try anchors.store()
        } catch {
            throw TrustRefusal(.anchorsUnavailable, error.message, trust: trust)
        }
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard let context = X509_STORE_CTX_new() else { throw Self.noMemory(trust) }
        defer { X509_STORE_CTX_free(context) }
        guard let untrusted = linnet_sk_X509_new_null() else { throw Self.noMemory(trust) }
        defer { linnet_sk_X509_free(untrusted) }
        // Neither the context nor the stack counts references to what it is given.
        defer { withExtendedLifetime((store, presented)) {} }
        for certificate in presented.dropFirst() { _ = linnet_sk_X509_push(untrusted, certificate.pointer) }
        guard X509_STORE_CTX_init(context, store.pointer, presented[0].pointer, untrusted) == 1 else {
            throw TrustRefusal(.internalFailure, "OpenSSL cannot begin to verify the chain.", trust: trust)
        }
        try configure(context, trust)
        guard X509_verify_cert(context) == 1 else { throw Self.refusal(context, trust, presented) }
        guard let chain = X509_STORE_CTX_get0_chain(context) else {
            throw TrustRefusal(.internalFailure, "OpenSSL accepted a chain that it does not show.", trust: trust)
        }
        return (0..<linnet_sk_X509_num(chain)).compactMap { index in
            guard let certificate = linnet_sk_X509_value(chain, index) else { return nil }
            X509_up_ref(certificate)
            return X509Handle(owning: certificate)
        }
    }

    static func parse(_ trust: ServerTrust) throws(TrustRefusal) -> [X509Handle] {
        guard !trust.presentedChain.isEmpty else {
            throw TrustRefusal(.noCertificate, "\(trust.host) presented no certificate.", trust: trust)
        }
        guard trust.presentedChain.count <= maximumCertificates,
            trust.presentedChain.reduce(0, { $0 + $1.count }) <= maximumBytes
        else {
            throw TrustRefusal(
                .malformedCertificate, "\(trust.host) presented a chain larger than any that makes sense.",
                trust: trust)
        }
        var chain: [X509Handle] = []
        for der in trust.presentedChain {
            guard let certificate = X509Handle(der: der) else {
                throw TrustRefusal(
                    .malformedCertificate, "\(trust.host) presented a certificate that cannot be parsed.",
                    trust: trust)
            }
            chain.append(certificate)
        }
        return chain
    }

    private func configure(_ context: OpaquePointer, _ trust: ServerTrust) throws(TrustRefusal) {
        guard let parameters = X509_STORE_CTX_get0_param(context) else {
            throw TrustRefusal(.internalFailure, "OpenSSL has no parameters for the chain.", trust: trust)
        }
        guard let time = time_t(exactly: trust.time.timeIntervalSince1970.rounded(.down)) else {
            throw TrustRefusal(.internalFailure, "\(trust.host): the time to judge by is none.", trust: trust)
        }
        // The trust setting is for what a bundle says of its anchors (`TRUSTED CERTIFICATE`).
        var isSet =
            X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER) == 1
            && X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER) == 1
        X509_VERIFY_PARAM_set_time(parameters, time)
        // Level 2: 112 bits (RSA 2048, SHA-256), as the CA/Browser Forum requires.
        X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        if anchors.allowsPartialChains {
            isSet = X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1 && isSet
        }
        if validatesHost {
            guard let identity = HostIdentity(trust.host) else {
                throw TrustRefusal(
                    .hostnameMismatch, "\"\(trust.host)\" is no host that a certificate can be for.", trust: trust)
            }
            isSet = Self.set(identity, in: parameters) && isSet
        }
        guard isSet else {
            throw TrustRefusal(
                .internalFailure, "OpenSSL does not take \"\(trust.host)\" as a host to check.", trust: trust)
        }
    }

    /// Subject alternative names only, wildcards as a whole left-most label only (RFC 9525, 6.3).
    private static func set(_ identity: HostIdentity, in parameters: OpaquePointer) -> Bool {
        X509_VERIFY_PARAM_set_hostflags(
            parameters,
            UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS) | UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        return switch identity {
        case .address(let bytes): X509_VERIFY_PARAM_set1_ip(parameters, bytes, bytes.count) == 1
        case .name(let name): X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1
        }
    }

    private static func noMemory(_ trust: ServerTrust) -> TrustRefusal {
        TrustRefusal(.internalFailure, "OpenSSL has no memory to verify a chain.", trust: trust)
    }
}

extension ChainVerifier {
    private static func refusal(
        _ context: OpaquePointer, _ trust: ServerTrust, _ presented: [X509Handle]
    ) -> TrustRefusal {
        let code = X509_STORE_CTX_get_error(context)
        let text = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
        let certificate = X509_STORE_CTX_get_current_cert(context).map { pointer in
            X509_up_ref(pointer)
            return CertificateSummary(X509Handle(owning: pointer))
        }
        let reason = reason(code)
        return TrustRefusal(
            reason, message(reason, trust, certificate, text), trust: trust, verifyCode: code,
            certificate: certificate, seenPins: presented.map(\.pin))
    }

    private static func reason(_ code: Int32) -> TrustRefusal.Reason {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            .unknownAuthority
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .hostnameMismatch
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_INVALID_CA, X509_V_ERR_CERT_UNTRUSTED,
            X509_V_ERR_CERT_REJECTED:
            .invalidPurpose
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .weakSecurity
        case X509_V_ERR_CERT_REVOKED: .revoked
        default: .chainInvalid
        }
    }

    private static func message(
        _ reason: TrustRefusal.Reason, _ trust: ServerTrust, _ certificate: CertificateSummary?, _ text: String
    ) -> String {
        let subject = certificate.map { "\"\($0.subject)\"" } ?? "of the chain"
        return switch reason {
        case .expired:
            "\(trust.host): the certificate \(subject) expired \(certificate?.notAfter.formatted(.iso8601) ?? "")."
        case .notYetValid:
            "\(trust.host): the certificate \(subject) is valid only from "
                + "\(certificate?.notBefore.formatted(.iso8601) ?? ""); is the clock right?"
        case .selfSigned:
            "\(trust.host): the certificate \(subject) is signed by itself and is no anchor."
        case .unknownAuthority:
            "\(trust.host): the chain ends at no trusted anchor (\(text))."
        case .hostnameMismatch:
            "\(trust.host): the certificate \(subject) is for other hosts."
        default:
            "\(trust.host): the certificate \(subject) is refused: \(text)."
        }
    }
}
