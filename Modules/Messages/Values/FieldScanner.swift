/// Reads the value of a header field from its start: tokens, quoted strings and the delimiters between them (RFC 9110,
/// section 5.6). Each parser decides what is malformed; the scanner never fails and never reads a byte twice.
package struct FieldScanner {
    package let bytes: ArraySlice<UInt8>
    package var position: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    package init(_ text: some StringProtocol) { self.init(Array(text.utf8)[...]) }

    @inlinable
    package var isAtEnd: Bool { position == bytes.endIndex }

    /// The next byte; nil at the end.
    @inlinable
    package var current: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

    /// Consumes a byte if it is the next one.
    @inlinable
    package mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        position += 1
        return true
    }

    /// Consumes the bytes before the first one that satisfies a condition, or all.
    @inlinable
    @discardableResult
    package mutating func until(_ isEnd: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.endIndex, !isEnd(bytes[position]) { position += 1 }
        return bytes[start..<position]
    }

    /// Consumes optional whitespace.
    @inlinable
    package mutating func skipBlanks() { until { !ASCII.isBlank($0) } }

    /// Consumes a token, which is empty if another byte is next.
    @inlinable
    package mutating func token() -> ArraySlice<UInt8> { until { !ASCII.isToken($0) } }

    /// Consumes a quoted string if a quotation mark is next, and removes its quotation marks and escapes (section
    /// 5.6.4). `isClosed` is false if it has no closing quotation mark, and `content` is all that follows.
    package mutating func quotedString() -> (content: [UInt8], isClosed: Bool)? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var content: [UInt8] = []
        while var byte = current {
            position += 1
            if byte == UInt8(ascii: "\"") { return (content, true) }
            if byte == UInt8(ascii: "\\"), let escaped = current {
                position += 1
                byte = escaped
            }
            content.append(byte)
        }
        return (content, false)
    }

    /// Whether a byte may be in a quoted string (section 5.6.4): a tab or a visible character.
    @inlinable
    package static func isQuotable(_ byte: UInt8) -> Bool { byte == 0x09 || byte >= 0x20 && byte != 0x7F }
}
