/// Formats untrusted text for one line of a terminal.
package enum OneLine {
    /// Returns the text with control characters and line breaks replaced by spaces, and without directional formatting
    /// characters.
    package static func text(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !turnsDirection(scalar) {
            line.append(isControl(scalar) ? " " : scalar)
        }
        return String(line)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func turnsDirection(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }
}
