extension String {
    /// The text made safe for a message: one line of limited length, with escapes for characters that would change the
    /// display of a terminal or a log. The names in a certificate are untrusted input.
    package var oneLine: String {
        var line = ""
        for scalar in unicodeScalars.prefix(Self.longestInLine) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                line += "\\u{" + String(scalar.value, radix: 16) + "}"
            default:
                line.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.count > Self.longestInLine ? line + "…" : line
    }

    private static var longestInLine: Int { 256 }
}
