/// A number of seconds in a cache directive or an Age field (RFC 9111, section 1.2.2).
enum DeltaSeconds {
    /// The value of all numbers that are greater.
    static let limit: Int64 = 1 << 31

    /// Parses decimal digits; nil for anything else.
    static func parse(_ bytes: some Sequence<UInt8>) -> Int64? {
        var (seconds, isEmpty): (Int64, Bool) = (0, true)
        for byte in bytes {
            guard 0x30...0x39 ~= byte else { return nil }
            seconds = min(seconds * 10 + Int64(byte - 0x30), limit)
            isEmpty = false
        }
        return isEmpty ? nil : seconds
    }
}
