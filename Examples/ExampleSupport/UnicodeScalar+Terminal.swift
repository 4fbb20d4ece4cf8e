// The dangers of untrusted text for a terminal.
extension Unicode.Scalar {
    /// Whether it is a control character or breaks a line.
    var isControl: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Whether it changes the direction of the characters that follow.
    var turnsDirection: Bool { (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value) }
}
