internal import FoundationEssentials
internal import LinnetMessages

/// Builds and checks a chain: first signatures, times, names and purposes with OpenSSL (RFC 5280, 6), then name
/// constraints, the profile's rules and revocation. If OpenSSL's path is refused, other paths are tried
/// (``PathSearch``). Results for the same chain are cached (``VerifiedChains``).
struct ChainVerifier {
    let anchors: TrustAnchors
    let validatesHost: Bool
    let profile: ChainProfile

    init(anchors: TrustAnchors, validatesHost: Bool, profile: ChainProfile = .default) {
        self.anchors = anchors
        self.validatesHost = validatesHost
        self.profile = profile
    }

    /// Returns the chain from the leaf to the anchor.
    func verify(_ trust: ServerTrust) throws(TrustRefusal) -> VerifiedChain {
        let presented = try Self.parse(trust)
        let store: TrustStore
        do {
            store = try anchors.store()
        } catch {
            throw TrustRefusal(.anchorsUnavailable, error.message, trust: trust)
        }
        let chain = try acceptedChain(trust, presented, store)
        let allowsSHA1 = !profile.rules.contains(.sha1Signatures)
        let revocation = try RevocationCheck(
            profile.revocation, trust, presented: presented, allowsSHA1: allowsSHA1
        ).run(chain)
        return VerifiedChain(
            certificates: chain, revocation: revocation, findings: findings(chain, trust),
            isHostValidated: validatesHost)
    }

    /// A chain that OpenSSL, the name constraints and the profile accept, on OpenSSL's path or another.
    private func acceptedChain(
        _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore
    ) throws(TrustRefusal) -> [X509Handle] {
        // The conversion of a time outside of Int's range would trap.
        guard let time = Int(exactly: trust.time.timeIntervalSince1970.rounded(.down)) else {
            throw TrustRefusal(
                .internalFailure, "\(trust.host.oneLine): the time of the verification is out of range.",
                trust: trust)
        }
        var question = VerifiedChains.Question(
            presented: presented, host: validatesHost ? trust.host : nil, securityLevel: profile.securityLevel,
            depth: profile.depth, flags: flags(presented))
        do {
            let chain = try remembered(question, at: time, in: store) { () throws(TrustRefusal) in
                try verifiedChain(trust, presented, store)
            }
            // Each time: the path may be remembered from an evaluation under another profile.
            try judge(chain, trust)
            return chain
        } catch {
            // The profile's rules choose the other path, which is therefore remembered for them alone.
            question.standards = profile.standards
            return try remembered(question, at: time, in: store) { () throws(TrustRefusal) in
                try otherChain(trust, presented: presented, in: store, at: time, insteadOf: error)
            }
        }
    }

    private func remembered(
        _ question: VerifiedChains.Question, at time: Int, in store: TrustStore,
        _ verify: () throws(TrustRefusal) -> [X509Handle]
    ) throws(TrustRefusal) -> [X509Handle] {
        if let chain = store.verified.chain(question, at: time) { return chain }
        let chain = try verify()
        store.verified.remember(chain, for: question)
        return chain
    }

    /// The chain on OpenSSL's own path, with checked name constraints.
    private func verifiedChain(
        _ trust: ServerTrust, _ presented: [X509Handle], _ store: TrustStore
    ) throws(TrustRefusal) -> [X509Handle] {
        let chain = try build(trust, presented, store)
        var work = ChainLimits.nameComparisons
        try checkNames(chain, trust, &work)
        return chain
    }
}

/// A chain that was verified up to an anchor.
struct VerifiedChain {
    /// The certificates from the leaf to the anchor.
    let certificates: [X509Handle]
    let revocation: RevocationVerdict
    /// Violations that are not enforced.
    let findings: [TrustRefusal]
    /// Whether the leaf was required to match the host.
    let isHostValidated: Bool

    var leaf: X509Handle { certificates[0] }
}

extension ChainVerifier {
    /// Parses the presented certificates, of which there must be at least one.
    static func parse(_ trust: ServerTrust) throws(TrustRefusal) -> [X509Handle] {
        let host = trust.host.oneLine
        guard !trust.presentedChain.isEmpty else {
            throw TrustRefusal(.noCertificate, "\(host): the server presented no certificate.", trust: trust)
        }
        guard trust.presentedChain.count <= ChainLimits.certificates,
            trust.presentedChain.reduce(0, { $0 + $1.count }) <= ChainLimits.bytes
        else {
            throw TrustRefusal(
                .malformedCertificate,
                "\(host): the server presented more than \(ChainLimits.certificates) certificates or "
                    + "\(ChainLimits.bytes) bytes.",
                trust: trust)
        }
        var chain: [X509Handle] = []
        for (index, der) in trust.presentedChain.enumerated() {
            chain.append(try parse(der, index, trust))
        }
        if let excess = ChainLimits.excess(chain.compactMap(\.facts)) {
            throw TrustRefusal(.limitExceeded, "\(host): the presented chain has \(excess).", trust: trust)
        }
        return chain
    }

    /// The bounded reader goes first: it determines the cost of OpenSSL's work.
    private static func parse(_ der: Data, _ index: Int, _ trust: ServerTrust) throws(TrustRefusal) -> X509Handle {
        if let handle = CertificateCache.shared.certificate(der) { return handle }
        let host = trust.host.oneLine
        guard let facts = try? CertificateFacts(der: [UInt8](der)) else { throw malformed(index, trust) }
        if let excess = ChainLimits.excess(facts) {
            throw TrustRefusal(
                .limitExceeded, "\(host): certificate \(index) of the presented chain \(excess).", trust: trust)
        }
        // OpenSSL can verify none of these, and its versions differ in parsing them.
        guard facts.notBefore.seconds != nil, facts.notAfter.seconds != nil else {
            throw TrustRefusal(
                .validityEncoding,
                "\(host): certificate \(index) of the presented chain has a validity that is no time (RFC 5280, 4.1.2.5).",
                trust: trust)
        }
        guard let handle = X509Handle(der: der, facts: facts) else { throw malformed(index, trust) }
        CertificateCache.shared.insert(handle, for: der)
        return handle
    }

    private static func malformed(_ index: Int, _ trust: ServerTrust) -> TrustRefusal {
        TrustRefusal(
            .malformedCertificate,
            "\(trust.host.oneLine): certificate \(index) of the presented chain cannot be parsed.", trust: trust)
    }
}

extension ChainVerifier {
    /// Checks the profile's rules for each certificate of a chain that OpenSSL has verified.
    func judge(_ chain: [X509Handle], _ trust: ServerTrust) throws(TrustRefusal) {
        for (index, certificate) in chain.enumerated() {
            let position = Self.position(index, of: chain.count)
            if let refusal = violation(of: certificate, at: position, trust, chain: chain) { throw refusal }
            if position == .issuingAnchor, let limit = certificate.facts.flatMap(ChainRule.unreadableLimit) {
                throw Self.broken(.malformedExtension, limit, of: certificate, for: trust, chain: chain)
            }
            let isRepeated = chain[..<index].contains { $0.der == certificate.der }
            guard !isRepeated else { throw Self.repeated(certificate, trust, chain) }
            // At other levels OpenSSL has checked this.
            guard profile.securityLevel == 0 else { continue }
            if let weakness = SecurityFloor.weakness(certificate, at: position, profile.rules) {
                throw Self.weak(certificate, weakness, for: trust, chain: chain)
            }
        }
    }

    /// The anchor's flaws that are not enforced.
    func findings(_ chain: [X509Handle], _ trust: ServerTrust) -> [TrustRefusal] {
        let (rule, position) = (ChainRule.flawedAnchor, Self.position(chain.count - 1, of: chain.count))
        guard rule.applies(to: position), !profile.rules.contains(rule), let anchor = chain.last,
            let flaw = anchor.anchorFlaw
        else { return [] }
        var finding = Self.broken(rule, flaw, of: anchor, for: trust, chain: chain)
        finding.verifiedChain = chain.map(\.der)
        return [finding]
    }

    /// The refusal for the first rule that a certificate violates; nil if it violates none.
    func violation(
        of certificate: X509Handle, at position: ChainLink.Position, _ trust: ServerTrust, chain: [X509Handle]
    ) -> TrustRefusal? {
        guard !certificate.hasPassed(profile, at: position) else { return nil }
        guard let facts = certificate.facts else {
            // OpenSSL reads some anchors that are not DER.
            return ChainLink.Position.anchor.contains(position) ? nil : Self.unreadable(certificate, trust)
        }
        guard let broken = profile.violation(ChainLink(facts: facts, position: position, profile: profile)) else {
            certificate.pass(profile, at: position)
            return nil
        }
        return Self.broken(broken.rule, broken.finding, of: certificate, for: trust, chain: chain)
    }

    private static func broken(
        _ rule: ChainRule, _ finding: String, of certificate: X509Handle, for trust: ServerTrust, chain: [X509Handle]
    ) -> TrustRefusal {
        TrustRefusal(
            rule.reason, message(rule, finding, of: certificate, for: trust), trust: trust,
            certificate: CertificateSummary(certificate), seenPins: chain.map(\.pin))
    }

    static func message(
        _ rule: ChainRule, _ finding: String, of certificate: X509Handle, for trust: ServerTrust
    ) -> String {
        "\(trust.host.oneLine): the certificate \"\(certificate.subject.oneLine)\" \(finding) (\(rule.citation))."
    }

    static func position(_ index: Int, of count: Int) -> ChainLink.Position {
        if index == count - 1 { return count == 1 ? .ownAnchor : .issuingAnchor }
        return index == 0 ? .leaf : .intermediate
    }

    private static func unreadable(_ certificate: X509Handle, _ trust: ServerTrust) -> TrustRefusal {
        TrustRefusal(
            .malformedCertificate,
            "\(trust.host.oneLine): the certificate \"\(certificate.subject.oneLine)\" is not DER (RFC 5280, 4.1).",
            trust: trust, certificate: CertificateSummary(certificate))
    }

    private static func weak(
        _ certificate: X509Handle, _ weakness: String, for trust: ServerTrust, chain: [X509Handle]
    ) -> TrustRefusal {
        TrustRefusal(
            .weakSecurity, "\(trust.host.oneLine): the certificate \"\(certificate.subject.oneLine)\" \(weakness).",
            trust: trust, certificate: CertificateSummary(certificate), seenPins: chain.map(\.pin))
    }

    private static func repeated(
        _ certificate: X509Handle, _ trust: ServerTrust, _ chain: [X509Handle]
    ) -> TrustRefusal {
        TrustRefusal(
            .repeatedCertificate,
            "\(trust.host.oneLine): the certificate \"\(certificate.subject.oneLine)\" appears twice in the chain "
                + "(RFC 5280, 6.1).",
            trust: trust, certificate: CertificateSummary(certificate), seenPins: chain.map(\.pin))
    }
}
