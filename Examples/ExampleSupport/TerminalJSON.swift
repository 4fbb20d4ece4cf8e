/// Formats JSON for a terminal.
package enum TerminalJSON {
    /// Returns the JSON with escapes for what JSON allows as it is and what controls a terminal: DEL, C1, line and paragraph
    /// separators, and directional formatting. These occur in strings only, so that the values remain the same.
    package static func text(_ json: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            switch scalar.value {
            case 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069:
                let digits = String(scalar.value, radix: 16)
                let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                text.append(contentsOf: escape.unicodeScalars)
            default: text.append(scalar)
            }
        }
        return String(text)
    }
}
