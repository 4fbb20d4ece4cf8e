extension String {
    /// The text as it may stand in a message: in one line, of bounded length, and without what makes a terminal or a log
    /// show something other than what is there. A certificate's names are written by whoever sent it.
    var oneLine: String {
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
