/// The keys of a host, those that wait to be used, and how long they count.
///
/// ```swift
/// let pins = PinSet([current], backupPins: [next], expiry: PinExpiry(date, then: .dropPins))
/// let rule = try HostRule("**.example.com", PinSetEvaluator(pins))
/// ```
public struct PinSet: Sendable, Hashable {
    /// The keys in use.
    public var pins: [PublicKeyPin]
    /// Keys that are kept elsewhere, for the day on which one in use is lost. They count as the others do.
    public var backupPins: [PublicKeyPin]
    /// Which certificate has to be pinned. The default is any of the verified chain.
    public var position: PinPosition
    /// When the pins stop to count; nil, the default, for never.
    public var expiry: PinExpiry?

    /// Makes a set.
    public init(
        _ pins: [PublicKeyPin], backupPins: [PublicKeyPin] = [], position: PinPosition = .anyInVerifiedChain,
        expiry: PinExpiry? = nil
    ) {
        self.pins = pins
        self.backupPins = backupPins
        self.position = position
        self.expiry = expiry
    }

    /// All keys, those in use first.
    public var all: [PublicKeyPin] { pins + backupPins.filter { !pins.contains($0) } }
}
