/// Decimal numbers of any length, for example of bytes (RFC 9110, section 14.1.2).
package enum Digits {
    /// The limit, which replaces greater numbers.
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
