/// Formats untrusted text for one line of a terminal.
package enum OneLine {
    /// Returns the text with control characters and line breaks replaced by spaces, and without directional formatting
    /// characters.
    package static func text(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !scalar.turnsDirection {
            line.append(scalar.isControl ? " " : scalar)
        }
        return String(line)
    }
}
