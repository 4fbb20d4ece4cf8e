/// Which certificate of the verified chain has to be pinned.
public enum PinPosition: String, Sendable, Hashable, Codable, CaseIterable {
    /// Any, from the leaf to the anchor: a pinned authority will do.
    case anyInVerifiedChain
    /// The server's own.
    case leaf
}

extension VerifiedTrust {
    /// The pins that count.
    func pins(at position: PinPosition) -> ArraySlice<PublicKeyPin> {
        position == .leaf ? pins.prefix(1) : pins[...]
    }
}
