public import FoundationEssentials

/// The chain on which trust rests.
public struct VerifiedTrust: Sendable {
    /// From the leaf to the anchor, in DER. What was presented where nothing was verified.
    public var chain: [Data]
    /// The pins of the chain's keys, leaf first.
    public var pins: [PublicKeyPin]
    /// Whether a pin of the policy matched.
    public var isPinned: Bool
    /// Whether OpenSSL verified the chain up to an anchor; where it did not, the chain is what was presented.
    let isAnchored: Bool

    /// Makes a verified chain; for evaluators of one's own.
    public init(chain: [Data], pins: [PublicKeyPin], isPinned: Bool) {
        self.chain = chain
        self.pins = pins
        self.isPinned = isPinned
        isAnchored = false
    }

    init(_ chain: [X509Handle], isPinned: Bool, isAnchored: Bool) {
        self.chain = chain.map(\.der)
        pins = chain.map(\.pin)
        self.isPinned = isPinned
        self.isAnchored = isAnchored
    }
}
