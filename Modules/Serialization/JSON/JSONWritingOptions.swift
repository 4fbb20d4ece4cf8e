/// How JSON is written.
public struct JSONWritingOptions: Sendable, Hashable, Codable {
    /// Whether names are written in the order of their UTF-8 bytes, not in their own; the default is false.
    public var sortsKeys: Bool
    /// Whether each value stands on a line of its own, indented by two spaces; the default is false.
    public var isPretty: Bool

    /// Creates options.
    public init(sortsKeys: Bool = false, isPretty: Bool = false) {
        self.sortsKeys = sortsKeys
        self.isPretty = isPretty
    }
}
