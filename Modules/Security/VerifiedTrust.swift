public import FoundationEssentials

/// The chain on which trust rests.
public struct VerifiedTrust: Sendable {
    /// From the leaf to the anchor, in DER. What was presented where nothing was verified.
    public var chain: [Data]
    /// The pins of the chain's keys, leaf first.
    public var pins: [PublicKeyPin]
    /// Whether a pin of the policy matched.
    public var isPinned: Bool
    /// Until when the verdict would be the same: the first moment at which a certificate of the chain, or what else the
    /// verdict rests on, runs out. Nil when nobody can tell in advance; a TLS session that was opened on such a verdict
    /// is not resumed.
    public var validUntil: Date?
    /// What would have been refused if it were enforced: the findings of a ``ReportOnlyEvaluator``, and an anchor that breaks
    /// ``ChainRule/flawedAnchor`` under a profile without that rule.
    public var findings: [TrustRefusal] = []
    /// Whether the policy has to be asked again, before a byte is sent to the server, if a staple may still come
    /// (``ServerTrust/awaitsStaple``): because the chain was accepted only so, or because an evaluator of one's own made
    /// this value, of which nobody can know what it rests on.
    public package(set) var awaitsStaple = false
    /// Whether OpenSSL verified the chain up to an anchor; where it did not, the chain is what was presented.
    let isAnchored: Bool

    /// Makes a verified chain; for evaluators of one's own. The default of `validUntil` is nil: judge each handshake.
    ///
    /// ``awaitsStaple`` is true. To keep what another evaluator found out, change a copy of what it gave instead.
    public init(chain: [Data], pins: [PublicKeyPin], isPinned: Bool, validUntil: Date? = nil) {
        self.chain = chain
        self.pins = pins
        self.isPinned = isPinned
        self.validUntil = validUntil
        isAnchored = false
        awaitsStaple = true
    }

    init(_ chain: VerifiedChain, isPinned: Bool) {
        self.init(chain.certificates, isPinned: isPinned, isAnchored: true)
        awaitsStaple = chain.revocation.awaitsStaple
        findings = chain.findings
        if let validUntil, let until = chain.revocation.holdsUntil { self.validUntil = min(validUntil, until) }
    }

    init(_ chain: [X509Handle], isPinned: Bool, isAnchored: Bool) {
        self.chain = chain.map(\.der)
        pins = chain.map(\.pin)
        self.isPinned = isPinned
        self.isAnchored = isAnchored
        validUntil = chain.map(\.notAfter).min()
    }
}
