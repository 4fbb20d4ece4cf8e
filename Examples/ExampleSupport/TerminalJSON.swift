/// Formats JSON for a terminal.
package enum TerminalJSON {
    /// Returns the JSON with escapes for characters that JSON allows but that control a terminal: DEL, C1, line and
    /// paragraph separators, and directional formatting. These occur in strings only, so that the values remain the
    /// same.
    package static func text(_ json: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in json.unicodeScalars {
            // The control characters before DEL are white space here: JSON escapes them in strings.
            guard scalar.value >= 0x7F, scalar.isControl || scalar.turnsDirection else {
                text.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            text.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
        }
        return String(text)
    }
}
