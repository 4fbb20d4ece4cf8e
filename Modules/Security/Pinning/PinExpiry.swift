public import FoundationEssentials

/// When pins expire, and what holds from then on.
///
/// Clients that are never updated keep their pins for ever. A date after which they stop to count lets such a client live
/// on when the keys have changed; who would rather lock it out says so.
public struct PinExpiry: Sendable, Hashable {
    /// What holds once pins have expired. There is no default: either choice can be the wrong one.
    public enum Consequence: String, Sendable, Hashable, Codable, CaseIterable {
        /// The chain has to verify, to the same anchors and for the host; pins no longer count.
        case dropPins
        /// Every chain is refused with ``TrustRefusal/Reason/pinsExpired``.
        case refuse
    }

    /// The first moment at which the pins no longer count.
    public var date: Date
    /// What holds from then on.
    public var consequence: Consequence

    /// Makes an expiry.
    public init(_ date: Date, then consequence: Consequence) {
        self.date = date
        self.consequence = consequence
    }
}
