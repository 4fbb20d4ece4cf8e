extension ChainVerifier {
    /// Asks the rules of the profile about each certificate of a chain that OpenSSL has verified.
    func judge(_ chain: [X509Handle], _ trust: ServerTrust) throws(TrustRefusal) {
        for (index, certificate) in chain.enumerated() {
            let position = Self.position(index, of: chain.count)
            if let refusal = violation(certificate, position, trust, chain) { throw refusal }
            let isRepeated = chain[..<index].contains { $0.der == certificate.der }
            guard !isRepeated else { throw Self.repeated(certificate, trust, chain) }
            // Else OpenSSL has done that.
            guard profile.securityLevel == 0 else { continue }
            if let weakness = SecurityFloor.weakness(certificate, at: position, profile.rules) {
                throw Self.weak(certificate, weakness, trust, chain)
            }
        }
    }

    /// What is wrong with the anchor, where that is not refused.
    func findings(_ chain: [X509Handle], _ trust: ServerTrust) -> [TrustRefusal] {
        let (rule, position) = (ChainRule.flawedAnchor, Self.position(chain.count - 1, of: chain.count))
        guard rule.applies(to: position), !profile.rules.contains(rule), let anchor = chain.last,
            let flaw = anchor.anchorFlaw
        else { return [] }
        var finding = TrustRefusal(
            rule.reason, Self.message(rule, flaw, anchor, trust), trust: trust, certificate: CertificateSummary(anchor),
            seenPins: chain.map(\.pin))
        finding.verifiedChain = chain.map(\.der)
        return [finding]
    }

    /// The refusal for the first rule that a certificate breaks; nil when it breaks none.
    func violation(
        _ certificate: X509Handle, _ position: ChainLink.Position, _ trust: ServerTrust, _ chain: [X509Handle]
    ) -> TrustRefusal? {
        guard !certificate.hasPassed(profile, at: position) else { return nil }
        guard let facts = certificate.facts else {
            // Of anchors, OpenSSL reads some that are no DER.
            return ChainLink.Position.anchor.contains(position) ? nil : Self.unreadable(certificate, trust)
        }
        guard let broken = profile.violation(ChainLink(facts: facts, position: position, profile: profile)) else {
            certificate.pass(profile, at: position)
            return nil
        }
        return TrustRefusal(
            broken.rule.reason, Self.message(broken.rule, broken.finding, certificate, trust), trust: trust,
            certificate: CertificateSummary(certificate), seenPins: chain.map(\.pin))
    }

    static func message(
        _ rule: ChainRule, _ finding: String, _ certificate: X509Handle, _ trust: ServerTrust
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
        _ certificate: X509Handle, _ weakness: String, _ trust: ServerTrust, _ chain: [X509Handle]
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
            "\(trust.host.oneLine): the certificate \"\(certificate.subject.oneLine)\" comes twice in the chain "
                + "(RFC 5280, 6.1).",
            trust: trust, certificate: CertificateSummary(certificate), seenPins: chain.map(\.pin))
    }
}
