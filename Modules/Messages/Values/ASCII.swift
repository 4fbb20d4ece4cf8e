/// Classes of ASCII characters as bit masks, so that a test costs two shifts.
package enum ASCII {
    /// The characters of a token (RFC 9110, section 5.6.2).
    @inlinable
    package static func isToken(_ byte: UInt8) -> Bool {
        isIn(byte, low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    }

    /// The unreserved characters of RFC 3986, and `/` and `?`, which a query may contain unescaped.
    @inlinable
    package static func isPlainInQuery(_ byte: UInt8) -> Bool {
        isIn(byte, low: 0x83FF_E000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }

    @inlinable
    package static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isIn(byte, low: 0x03FF_0000_0000_0000, high: 0x07FF_FFFE_07FF_FFFE)
    }

    /// A space or a tab: optional whitespace (RFC 9110, section 5.6.3).
    @inlinable
    package static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The lowercase letter of an uppercase one; other bytes unchanged. Independent of the locale.
    @inlinable
    package static func lowercase(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }

    /// The uppercase hexadecimal digit for a number below 16.
    @inlinable
    package static func hexadecimalDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
    }

    /// The value of a hexadecimal digit of either case; nil for any other byte.
    @inlinable
    package static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    @inlinable
    package static func isIn(_ byte: UInt8, low: UInt64, high: UInt64) -> Bool {
        byte < 0x80 && (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte - 64)) & 1 == 1
    }
}
