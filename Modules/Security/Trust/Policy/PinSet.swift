public import FoundationEssentials

/// The pinned keys of a host, their backups, and their expiry.
///
/// ```swift
/// let pins = PinSet([current], backupPins: [next], expiry: PinSet.Expiry(date, then: .dropPins))
/// let rule = try HostRule("**.example.com", .pins(pins))
/// ```
public struct PinSet: Sendable, Hashable {
    /// The keys in use.
    public var pins: [PublicKeyPin]
    /// Keys stored elsewhere as replacements for a lost key. They match as the others do.
    public var backupPins: [PublicKeyPin]
    /// The certificates that are compared. The default is any of the verified chain.
    public var position: Position
    /// When the pins expire; nil, the default, means never.
    public var expiry: Expiry?

    /// Creates a set.
    public init(
        _ pins: [PublicKeyPin], backupPins: [PublicKeyPin] = [], position: Position = .anyInVerifiedChain,
        expiry: Expiry? = nil
    ) {
        self.pins = pins
        self.backupPins = backupPins
        self.position = position
        self.expiry = expiry
    }

    /// All keys, beginning with the keys in use.
    public var all: [PublicKeyPin] { pins + backupPins.filter { !pins.contains($0) } }
}

extension PinSet {
    /// The expiry of pins, and its effect.
    ///
    /// Clients that are never updated keep their pins forever. An expiry lets them connect after the keys have changed,
    /// or stops them from connecting.
    public struct Expiry: Sendable, Hashable {
        /// The effect of the expiry. There is no default, because either choice can be wrong.
        public enum Consequence: String, Sendable, Hashable, Codable, CaseIterable {
            /// Pins no longer count; the chain has to verify up to the same anchors and for the host.
            case dropPins
            /// Every chain is refused with ``TrustRefusal/Reason/pinsExpired``.
            case refuse
        }

        /// The first moment at which the pins have expired.
        public var date: Date
        /// The effect of the expiry.
        public var consequence: Consequence

        /// Creates an expiry.
        public init(_ date: Date, then consequence: Consequence) {
            self.date = date
            self.consequence = consequence
        }
    }
}

extension PinSet {
    /// The certificates of the verified chain that pins are compared with.
    public enum Position: String, Sendable, Hashable, Codable, CaseIterable {
        /// All, from the leaf to the anchor.
        case anyInVerifiedChain
        /// The server's certificate only.
        case leaf
    }
}

extension VerifiedTrust {
    /// The pins at a position.
    func pins(at position: PinSet.Position) -> ArraySlice<PublicKeyPin> {
        position == .leaf ? pins.prefix(1) : pins[...]
    }
}
