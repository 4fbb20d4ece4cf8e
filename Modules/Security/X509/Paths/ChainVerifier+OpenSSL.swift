internal import COpenSSL
internal import FoundationEssentials
internal import LinnetMessages

extension ChainVerifier {
    /// Matches subject alternative names only, and wildcards only as the whole left-most label (RFC 9525, 6.3).
    static let hostFlags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS) | UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)

    /// Builds and verifies a chain with OpenSSL, from the presented certificates to an anchor of the store.
    ///
    /// If `path` is given, the presented certificates are a valid path to that anchor, and OpenSSL verifies only this
    /// path.
    func build(
        _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore, path anchor: X509Handle? = nil
    ) throws(TrustRefusal) -> [X509Handle] {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard let context = X509_STORE_CTX_new() else { throw Self.failure("has no memory to verify a chain", trust) }
        defer { X509_STORE_CTX_free(context) }
        guard let untrusted = linnet_sk_X509_new_null() else { throw Self.failure("has no memory for a chain", trust) }
        defer { linnet_sk_X509_free(untrusted) }
        // Neither the context nor the stack retains its arguments.
        defer { withExtendedLifetime((store, presented)) {} }
        for certificate in presented.dropFirst() where linnet_sk_X509_push(untrusted, certificate.pointer) <= 0 {
            throw Self.failure("has no memory for a chain", trust)
        }
        let single = try anchor.map { (anchor) throws(TrustRefusal) in try Self.store(of: anchor, trust) }
        defer { if let single { X509_STORE_free(single) } }
        guard X509_STORE_CTX_init(context, single ?? store.pointer, presented[0].pointer, untrusted) == 1 else {
            throw Self.failure("cannot begin to verify the chain", trust)
        }
        try configure(context, trust, flags(presented), isInTime: anchor != nil)
        guard X509_verify_cert(context) == 1 else { throw refusal(context, trust, presented) }
        return try Self.verifiedChain(
            context, for: trust, presented + [anchor].compactMap { $0 }, in: store)
    }

    private static func store(of anchor: X509Handle, _ trust: ServerTrust) throws(TrustRefusal) -> OpaquePointer {
        guard let store = X509_STORE_new() else { throw failure("has no memory for an anchor", trust) }
        guard X509_STORE_add_cert(store, anchor.pointer) == 1 else {
            X509_STORE_free(store)
            throw failure("does not take an anchor", trust)
        }
        return store
    }

    /// - Parameter isInTime: Whether the dates have been checked to their last second (RFC 5280, 4.1.2.5). OpenSSL
    ///   excludes the last second, so its own check is skipped then.
    private func configure(
        _ context: OpaquePointer, _ trust: ServerTrust, _ flags: UInt, isInTime: Bool
    ) throws(TrustRefusal) {
        guard let parameters = X509_STORE_CTX_get0_param(context),
            let time = time_t(exactly: trust.time.timeIntervalSince1970.rounded(.down))
        else { throw Self.failure("has no parameters for the chain", trust) }
        // An explicit time overrides the flag.
        if !isInTime { X509_VERIFY_PARAM_set_time(parameters, time) }
        X509_VERIFY_PARAM_set_depth(parameters, profile.depth)
        // Level 2: 112 bits (RSA 2048, SHA-256), as the CA/Browser Forum requires.
        X509_VERIFY_PARAM_set_auth_level(parameters, profile.securityLevel)
        // The trust setting honours an anchor's own restrictions (`TRUSTED CERTIFICATE`).
        guard X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER) == 1,
            X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER) == 1,
            X509_VERIFY_PARAM_set_flags(parameters, flags | UInt(isInTime ? X509_V_FLAG_NO_CHECK_TIME : 0)) == 1
        else { throw Self.failure("does not take the parameters for the chain", trust) }
        if flags & UInt(X509_V_FLAG_POLICY_CHECK) != 0 { try Self.acceptAnyPolicy(parameters, trust) }
        // Set even if no host is checked: OpenSSL would otherwise apply host constraints to common names.
        X509_VERIFY_PARAM_set_hostflags(parameters, Self.hostFlags)
        if validatesHost { try Self.setHost(trust, in: parameters) }
    }

    /// Policies are checked if an authority constrains them: OpenSSL counts such an extension as processed, but ignores
    /// it without this flag (RFC 5280, 6.1.3 (d)).
    func flags(_ presented: [X509Handle]) -> UInt {
        let constrains = profile.checksPolicies && presented.contains { $0.facts?.known.hasPolicyConstraints ?? false }
        return UInt(anchors.allowsPartialChains ? X509_V_FLAG_PARTIAL_CHAIN : 0)
            | UInt(constrains ? X509_V_FLAG_POLICY_CHECK : 0)
    }

    /// Sets the initial policies to any-policy (RFC 5280, 6.1.1 (c)). OpenSSL begins with none, so that a demand for an
    /// explicit policy could not be met.
    private static func acceptAnyPolicy(_ parameters: OpaquePointer, _ trust: ServerTrust) throws(TrustRefusal) {
        // The object is OpenSSL's own, and freeing it has no effect.
        guard X509_VERIFY_PARAM_add0_policy(parameters, OBJ_nid2obj(NID_any_policy)) == 1 else {
            throw failure("does not take the policies for the chain", trust)
        }
    }

    private static func setHost(_ trust: ServerTrust, in parameters: OpaquePointer) throws(TrustRefusal) {
        let isSet =
            switch HostName(trust.host) {
            case .name(let name): X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1
            case .address(let bytes): X509_VERIFY_PARAM_set1_ip(parameters, bytes, bytes.count) == 1
            case nil: throw TrustRefusal.unusableHost(.hostnameMismatch, trust)
            }
        guard isSet else { throw failure("does not take the host to check", trust) }
    }

    /// The chain that OpenSSL verified, as existing handles, which keep their parsed fields.
    private static func verifiedChain(
        _ context: OpaquePointer, for trust: ServerTrust, _ handles: [X509Handle], in store: TrustStore
    ) throws(TrustRefusal) -> [X509Handle] {
        var chain: [X509Handle] = []
        if let stack = X509_STORE_CTX_get0_chain(context) {
            for index in 0..<max(0, linnet_sk_X509_num(stack)) {
                guard let certificate = linnet_sk_X509_value(stack, index) else { continue }
                chain.append(handles.first { $0.pointer == certificate } ?? store.handle(of: certificate))
            }
        }
        guard !chain.isEmpty else { throw failure("accepted a chain that it does not show", trust) }
        return chain
    }
}

extension ChainVerifier {
    /// The refusal for OpenSSL's error, with the reason of a violated rule if that is more specific.
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
            refusal.message = Self.message(rule, finding, of: culprit, for: trust)
            break
        }
        return refusal
    }

    /// The rules that have an error code of OpenSSL for their violation.
    private static func rules(behind code: Int32, _ facts: CertificateFacts) -> [ChainRule] {
        switch code {
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK,
            X509_V_ERR_EC_KEY_EXPLICIT_PARAMS, X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY:
            ChainRule.keys + ChainRule.signatures
        case X509_V_ERR_CERT_SIGNATURE_FAILURE: [.signatureAlgorithmMismatch, .signatureAlgorithm]
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: [.unprocessedCriticalExtension, .extensionMustNotBeCritical]
        case X509_V_ERR_INVALID_CA: facts.known.basicConstraints == nil ? [.missingBasicConstraints] : []
        case X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD, X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD: [.validityEncoding]
        // For a certificate that it cannot read, OpenSSL finds no issuer.
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

    /// The refusal for an unexpected failure of OpenSSL.
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

    static func message(
        _ reason: TrustRefusal.Reason, _ culprit: X509Handle?, _ text: String, presented: Int
    ) -> String {
        guard let culprit else { return "the chain is refused: \(text)" }
        let subject = "the certificate \"\(culprit.subject.oneLine)\""
        switch reason {
        case .expired:
            return "\(subject) expired on \(culprit.notAfter.formatted(.iso8601))"
        case .notYetValid:
            return "\(subject) is not valid before \(culprit.notBefore.formatted(.iso8601)); check the clock"
        case .selfSigned:
            return "\(subject) is self-signed and is not a trusted anchor"
        case .unknownAuthority:
            let hint = presented == 1 ? "; the server may have omitted an intermediate certificate" : ""
            return "\(subject), issued by \"\(culprit.issuer.oneLine)\", does not lead to a trusted anchor\(hint)"
        case .hostnameMismatch:
            return "\(subject) does not match the host; it is for: \(culprit.alternativeNames?.oneLine ?? "no host")"
        default:
            return "\(subject) is refused: \(text)"
        }
    }
}

extension TrustRefusal {
    /// The refusal of a host that no certificate can match.
    static func unusableHost(_ reason: Reason, _ trust: ServerTrust) -> TrustRefusal {
        TrustRefusal(
            reason,
            "\"\(trust.host.oneLine)\" is neither an ASCII name nor an IP address; write other names as A-labels (\"xn--…\").",
            trust: trust)
    }
}
