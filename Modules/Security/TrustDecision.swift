public import FoundationEssentials

/// The verdict on a server's chain.
public enum TrustDecision: Sendable {
    /// The connection may be used.
    case accepted(VerifiedTrust)
    /// The connection must not be used.
    case refused(TrustRefusal)
}

/// The chain on which trust rests.
public struct VerifiedTrust: Sendable {
    /// From the leaf to the anchor, in DER. What was presented where nothing was verified.
    public var chain: [Data]
    /// The pins of the chain's keys, leaf first.
    public var pins: [PublicKeyPin]
    /// Whether a pin of the policy matched.
    public var isPinned: Bool

    /// Makes a verified chain; for evaluators of one's own.
    public init(chain: [Data], pins: [PublicKeyPin], isPinned: Bool) {
        self.chain = chain
        self.pins = pins
        self.isPinned = isPinned
    }
}

extension TrustDecision {
    /// Whether the connection may be used.
    public var isAccepted: Bool {
        if case .accepted = self { true } else { false }
    }

    /// Why it must not be used; nil when it may.
    public var refusal: TrustRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
