/// The digits of escapes such as `\u00e9` (RFC 8259, section 7).
enum HexadecimalDigit {
    /// The value of a digit of either case; nil for any other byte.
    @inline(__always) static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    /// The uppercase digit for a number below 16.
    static func character(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x37 + nibble }
}
