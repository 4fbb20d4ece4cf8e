extension ChainRule {
    static let anchors: [ChainRule] = [.flawedAnchor]

    /// An anchor that issues says so, and says nothing that an authority's own certificate cannot mean.
    ///
    /// An anchor is trusted because somebody said so (RFC 5280, 6.1.1 (d)), and ``ChainProfile/default`` accepts one that
    /// breaks this rule. The verdict then has it among its ``VerifiedTrust/findings``, and a ``TrustReporter`` is told.
    /// A server's own certificate that is the anchor itself is not looked at.
    public static let flawedAnchor = ChainRule(
        "flawedAnchor", "RFC 5280, 4.1.2.2, 4.2, 4.2.1.1 and 4.2.1.9; Baseline Requirements, 7.1.2.1",
        "An anchor is an authority's certificate: it says so, its serial number is not negative, and one that is signed by "
            + "itself names its own key and no purposes.",
        .issuingAnchor, scope: .webAuthority
    ) { link in
        let (facts, known) = (link.facts, link.facts.known)
        guard known.basicConstraints?.isAuthority == true else {
            return "issues, and does not say that it is an authority"
        }
        if let first = facts.serialNumber.first, first >= 0x80 { return "has a negative serial number" }
        let unknown = facts.extensions.first { $0.isCritical && !processed.contains($0.identifier) }
        if let unknown { return "has the critical extension \(unknown.identifier), which is not processed" }
        return facts.isSelfIssued ? flaw(ofRoot: facts) : nil
    }

    private static func flaw(ofRoot facts: CertificateFacts) -> String? {
        guard facts.first(.extendedKeyUsage) == nil else { return "is a root, and names purposes" }
        guard facts.first(.authorityKeyIdentifier) != nil else { return nil }
        guard let identifier = facts.known.authorityKeyIdentifier else {
            return "has an authority key identifier that cannot be read"
        }
        guard let key = identifier.keyIdentifier else { return "has an authority key identifier without a key" }
        if let own = facts.known.subjectKeyIdentifier, own != key {
            return "is signed by itself, and names another key as its issuer's"
        }
        guard identifier.serialNumber == nil || identifier.serialNumber == facts.serialNumber else {
            return "is signed by itself, and names another serial number as its issuer's"
        }
        return nil
    }
}
