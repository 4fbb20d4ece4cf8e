internal import COpenSSL
internal import FoundationEssentials

extension ChainVerifier {
    /// Subject alternative names only, wildcards as a whole left-most label only (RFC 9525, 6.3).
    static let hostFlags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS) | UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)

    /// The chain that OpenSSL builds and verifies from what is presented to an anchor of the store.
    ///
    /// With `path`, the presented certificates are a path, in time, to that anchor, and OpenSSL verifies it and no other.
    func build(
        _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore, path anchor: X509Handle? = nil
    ) throws(TrustRefusal) -> [X509Handle] {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard let context = X509_STORE_CTX_new() else { throw Self.failure("has no memory to verify a chain", trust) }
        defer { X509_STORE_CTX_free(context) }
        guard let untrusted = linnet_sk_X509_new_null() else { throw Self.failure("has no memory for a chain", trust) }
        defer { linnet_sk_X509_free(untrusted) }
        // Neither the context nor the stack counts references to what it is given.
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
        return try Self.verifiedChain(context, trust, presented + [anchor].compactMap { $0 }, store)
    }

    private static func store(of anchor: X509Handle, _ trust: ServerTrust) throws(TrustRefusal) -> OpaquePointer {
        guard let store = X509_STORE_new() else { throw failure("has no memory for an anchor", trust) }
        guard X509_STORE_add_cert(store, anchor.pointer) == 1 else {
            X509_STORE_free(store)
            throw failure("does not take an anchor", trust)
        }
        return store
    }

    /// - Parameter isInTime: Whether our reader found the certificates in time, to their last second (RFC 5280, 4.1.2.5),
    ///   so that OpenSSL, for which that second is over, need not look.
    private func configure(
        _ context: OpaquePointer, _ trust: ServerTrust, _ flags: UInt, isInTime: Bool
    ) throws(TrustRefusal) {
        guard let parameters = X509_STORE_CTX_get0_param(context),
            let time = time_t(exactly: trust.time.timeIntervalSince1970.rounded(.down))
        else { throw Self.failure("has no parameters for the chain", trust) }
        // A time that is set comes before the flag.
        if !isInTime { X509_VERIFY_PARAM_set_time(parameters, time) }
        X509_VERIFY_PARAM_set_depth(parameters, profile.depth)
        // Level 2: 112 bits (RSA 2048, SHA-256), as the CA/Browser Forum requires.
        X509_VERIFY_PARAM_set_auth_level(parameters, profile.securityLevel)
        // The trust setting heeds what an anchor's own entry says about servers (`TRUSTED CERTIFICATE`).
        guard X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER) == 1,
            X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER) == 1,
            X509_VERIFY_PARAM_set_flags(parameters, flags | UInt(isInTime ? X509_V_FLAG_NO_CHECK_TIME : 0)) == 1
        else { throw Self.failure("does not take the parameters for the chain", trust) }
        // Also where no host is checked: OpenSSL would hold a common name against constraints on hosts.
        X509_VERIFY_PARAM_set_hostflags(parameters, Self.hostFlags)
        if validatesHost { try Self.setHost(trust, in: parameters) }
    }

    /// Policies are checked where an authority constrains them: OpenSSL takes such an extension for handled, and skips it,
    /// unless it is told to look (RFC 5280, 6.1.3 (d)).
    func flags(_ presented: [X509Handle]) -> UInt {
        let constrains = profile.checksPolicies && presented.contains { $0.facts?.known.hasPolicyConstraints ?? false }
        return UInt(anchors.allowsPartialChains ? X509_V_FLAG_PARTIAL_CHAIN : 0)
            | UInt(constrains ? X509_V_FLAG_POLICY_CHECK : 0)
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

    /// What OpenSSL verified, by the handles that there are already: what they know need not be read again.
    private static func verifiedChain(
        _ context: OpaquePointer, _ trust: ServerTrust, _ handles: [X509Handle], _ store: TrustStore
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
