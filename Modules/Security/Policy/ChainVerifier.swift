internal import COpenSSL
internal import FoundationEssentials

/// Builds and checks a chain: signatures, times, names and purposes with OpenSSL (RFC 5280, 6), then the rules of a
/// profile on what OpenSSL has verified, then revocation. What OpenSSL said of the same chain before is remembered
/// (``VerifiedChains``).
struct ChainVerifier {
    /// Subject alternative names only, wildcards as a whole left-most label only (RFC 9525, 6.3).
    static let hostFlags = UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS) | UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)

    let anchors: TrustAnchors
    let validatesHost: Bool
    let profile: ChainProfile

    init(anchors: TrustAnchors, validatesHost: Bool, profile: ChainProfile = .strict) {
        self.anchors = anchors
        self.validatesHost = validatesHost
        self.profile = profile
    }

    /// The chain from the leaf to the anchor.
    func verify(_ trust: ServerTrust) throws(TrustRefusal) -> VerifiedChain {
        let presented = try Self.parse(trust)
        let store: TrustStore
        do {
            store = try anchors.store()
        } catch {
            throw TrustRefusal(.anchorsUnavailable, error.message, trust: trust)
        }
        let chain = try verifiedChain(trust, presented, store)
        try judge(chain, trust)
        let allowsSHA1 = !profile.rules.contains(.sha1Signatures)
        let revocation = try RevocationCheck(
            profile.revocation, trust, presented: presented, allowsSHA1: allowsSHA1
        ).run(chain)
        return VerifiedChain(certificates: chain, revocation: revocation)
    }

    /// OpenSSL's answer, also one that it gave before; a time that it could not be asked about has none.
    private func verifiedChain(
        _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore
    ) throws(TrustRefusal) -> [X509Handle] {
        let question = VerifiedChains.Question(
            presented: presented, host: validatesHost ? trust.host : nil, securityLevel: profile.securityLevel,
            flags: flags(presented))
        let time = Int(exactly: trust.time.timeIntervalSince1970.rounded(.down))
        if let time, let chain = store.verified.chain(question, at: time) { return chain }
        let chain = try build(trust, presented, store)
        store.verified.remember(chain, for: question)
        return chain
    }

    private func build(
        _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore
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
        guard X509_STORE_CTX_init(context, store.pointer, presented[0].pointer, untrusted) == 1 else {
            throw Self.failure("cannot begin to verify the chain", trust)
        }
        try configure(context, trust, presented)
        guard X509_verify_cert(context) == 1 else { throw refusal(context, trust, presented) }
        return try Self.verifiedChain(context, trust, presented, store)
    }

    private func configure(
        _ context: OpaquePointer, _ trust: ServerTrust, _ presented: [X509Handle]
    ) throws(TrustRefusal) {
        guard let parameters = X509_STORE_CTX_get0_param(context) else {
            throw Self.failure("has no parameters for the chain", trust)
        }
        // A time out of any calendar would be a trap in the conversion.
        guard let time = time_t(exactly: trust.time.timeIntervalSince1970.rounded(.down)) else {
            throw TrustRefusal(
                .internalFailure, "\(trust.host.oneLine): the time to verify at is no moment in any calendar.",
                trust: trust)
        }
        X509_VERIFY_PARAM_set_time(parameters, time)
        X509_VERIFY_PARAM_set_depth(parameters, ChainLimits.depth)
        // Level 2: 112 bits (RSA 2048, SHA-256), as the CA/Browser Forum requires.
        X509_VERIFY_PARAM_set_auth_level(parameters, profile.securityLevel)
        // The trust setting heeds what an anchor's own entry says about servers (`TRUSTED CERTIFICATE`).
        guard X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER) == 1,
            X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER) == 1,
            X509_VERIFY_PARAM_set_flags(parameters, flags(presented)) == 1
        else { throw Self.failure("does not take the parameters for the chain", trust) }
        if validatesHost { try Self.setHost(trust, in: parameters) }
    }

    /// Policies are checked where somebody constrains them: OpenSSL takes such an extension for handled, and skips it,
    /// unless it is told to look (RFC 5280, 6.1.3 (d)).
    private func flags(_ presented: [X509Handle]) -> UInt {
        let constrains = profile != .lenient && presented.contains { $0.facts?.known.hasPolicyConstraints ?? false }
        return UInt(anchors.allowsPartialChains ? X509_V_FLAG_PARTIAL_CHAIN : 0)
            | UInt(constrains ? X509_V_FLAG_POLICY_CHECK : 0)
    }

    private static func setHost(_ trust: ServerTrust, in parameters: OpaquePointer) throws(TrustRefusal) {
        X509_VERIFY_PARAM_set_hostflags(parameters, hostFlags)
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
        _ context: OpaquePointer, _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore
    ) throws(TrustRefusal) -> [X509Handle] {
        var chain: [X509Handle] = []
        if let stack = X509_STORE_CTX_get0_chain(context) {
            for index in 0..<max(0, linnet_sk_X509_num(stack)) {
                guard let certificate = linnet_sk_X509_value(stack, index) else { continue }
                chain.append(presented.first { $0.pointer == certificate } ?? store.handle(of: certificate))
            }
        }
        guard !chain.isEmpty else { throw failure("accepted a chain that it does not show", trust) }
        return chain
    }
}

/// A chain that was verified up to an anchor.
struct VerifiedChain {
    /// From the leaf to the anchor.
    let certificates: [X509Handle]
    let revocation: RevocationVerdict

    var leaf: X509Handle { certificates[0] }
}
