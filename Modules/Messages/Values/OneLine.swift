extension String {
    /// The text made safe for a message: one line of bounded length, with characters escaped that would change what a
    /// terminal or a log shows. The names in a certificate are untrusted input.
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
