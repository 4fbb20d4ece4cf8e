/// Matches `type/subtype; name=value; name="quoted"` as RFC 9110, section 8.3.1 defines it.
struct MediaTypeGrammar {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func matches() -> Bool {
        guard token(), take(UInt8(ascii: "/")), token() else { return false }
        while true {
            skipSpace()
            if position == bytes.count { return true }
            guard take(UInt8(ascii: ";")) else { return false }
            skipSpace()
            // Empty parameters are allowed (RFC 9110, section 5.6.6).
            if position == bytes.count || bytes[position] == UInt8(ascii: ";") { continue }
            guard token(), take(UInt8(ascii: "=")), token() || quoted() else { return false }
        }
    }

    private mutating func skipSpace() {
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func token() -> Bool {
        let start = position
        while position < bytes.count, ASCII.isToken(bytes[position]) { position += 1 }
        return position > start
    }

    private mutating func quoted() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while position < bytes.count {
            var byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\"), position < bytes.count {
                byte = bytes[position]
                position += 1
            }
            guard byte >= 0x20 || byte == 0x09, byte != 0x7F else { return false }
        }
        return false
    }
}
