/// Decimal numbers, which may have any number of digits, such as those of bytes (RFC 9110, section 14.1.2).
package enum Digits {
    /// Greater numbers count as this one.
    package static let limit = Int64.max / 16

    /// Parses decimal digits; nil for anything else.
    @inlinable
    package static func parse(_ bytes: some Sequence<UInt8>) -> Int64? {
        var (number, isEmpty): (Int64, Bool) = (0, true)
        for byte in bytes {
            guard 0x30...0x39 ~= byte else { return nil }
            number = min(number * 10 + Int64(byte - 0x30), limit)
            isEmpty = false
        }
        return isEmpty ? nil : number
    }
}
