package import FoundationEssentials

/// Makes untrusted text of several lines harmless for a terminal, piece by piece.
///
/// Line breaks and tabs stay. Other control characters become their pictures, such as ␛ for ESC, and characters that
/// turn the direction of text become an escape, such as `\u{202e}`. The text is UTF-8; other bytes become U+FFFD.
package struct TerminalText {
    /// The bytes of a character that is not complete yet.
    private var rest = Data()

    package init() {}

    /// Returns the text of the next bytes.
    package mutating func text(_ bytes: Data) -> String {
        let all = rest + bytes
        let end = all.count - Self.incompleteBytes(at: all)
        rest = Data(all.suffix(all.count - end))
        return Self.text(String(decoding: all.prefix(end), as: UTF8.self))
    }

    /// Returns the text of the bytes that are left at the end.
    package mutating func end() -> String {
        defer { rest = Data() }
        return Self.text(String(decoding: rest, as: UTF8.self))
    }

    /// Returns a whole text without characters that control a terminal.
    package static func text(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var isAfterReturn = false
        for scalar in text.unicodeScalars {
            if isAfterReturn && scalar != "\n" { result.append("\u{240D}") }
            isAfterReturn = scalar == "\r"
            if !isAfterReturn { append(scalar, to: &result) }
        }
        if isAfterReturn { result.append("\u{240D}") }
        return String(result)
    }

    private static func append(_ scalar: Unicode.Scalar, to text: inout String.UnicodeScalarView) {
        switch scalar.value {
        case 0x09, 0x0A: text.append(scalar)
        case 0x00..<0x20: text.append(Unicode.Scalar(0x2400 + scalar.value) ?? "?")
        case 0x7F: text.append("\u{2421}")
        default:
            if scalar.isControl || scalar.turnsDirection {
                text.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            } else {
                text.append(scalar)
            }
        }
    }

    /// The number of bytes at the end that begin a character without ending it.
    private static func incompleteBytes(at bytes: Data) -> Int {
        for (count, byte) in zip(1...3, bytes.reversed()) where byte & 0xC0 != 0x80 {
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > count ? count : 0
        }
        return 0
    }
}
