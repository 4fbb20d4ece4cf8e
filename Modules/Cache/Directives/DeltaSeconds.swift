internal import LinnetMessages

/// A number of seconds in a cache directive or an Age field (RFC 9111, section 1.2.2).
enum DeltaSeconds {
    /// The value of all greater numbers.
    static let limit: Int64 = 1 << 31

    /// Parses decimal digits; nil for anything else.
    static func parse(_ bytes: some Sequence<UInt8>) -> Int64? {
        Digits.parse(bytes).map { min($0, limit) }
    }
}
