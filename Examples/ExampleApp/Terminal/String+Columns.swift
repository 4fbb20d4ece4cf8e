/// The columns that text takes in a terminal.
extension Character {
    /// Wide characters (Unicode Standard Annex 11: W and F) that are no emoji, as ranges of scalar values.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4C6, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6B,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
    ]
    private static let regionalIndicators: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF

    /// The columns of one grapheme cluster: 0, 1 or 2.
    var columns: Int {
        if let ascii = asciiValue { return (0x20..<0x7F).contains(ascii) ? 1 : 0 }
        guard let base = unicodeScalars.first(where: { !Self.isInvisible($0) }) else { return 0 }
        if Self.wide.contains(where: { $0.contains(base.value) }) { return 2 }
        // A flag is one cluster of two regional indicators. A variation selector asks for text or for an emoji.
        if Self.regionalIndicators.contains(base.value) { return unicodeScalars.count > 1 ? 2 : 1 }
        if unicodeScalars.contains("\u{FE0E}") { return 1 }
        return base.properties.isEmojiPresentation || base.properties.isEmoji && unicodeScalars.contains("\u{FE0F}")
            ? 2 : 1
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension StringProtocol {
    /// The sum of the characters' columns.
    var columns: Int { reduce(0) { $0 + $1.columns } }
}

extension String {
    /// The text if it fits, and otherwise its beginning with an ellipsis; below three columns, at most the ellipsis.
    func truncated(to width: Int) -> String {
        if columns <= width { return self }
        if width < 3 { return width > 0 ? "…" : "" }
        return (wrapped(to: width - 1).first ?? "") + "…"
    }

    /// The text in lines: it is broken at spaces and beside wide characters, and within a word that is wider than a
    /// line. A width below 2 counts as 2, so that each character fits.
    func wrapped(to width: Int) -> [String] {
        let width = max(2, width)
        var lines: [String] = []
        var line: [Character] = []
        var used = 0
        // The number of characters up to the last place at which the line can be broken.
        var breakable = 0
        for character in self {
            let columns = character.columns
            if character == " " || columns == 2 { breakable = line.count }
            while used + columns > width {
                let end = breakable > 0 ? breakable : line.count
                lines.append(String(line[..<end]).trimmingLastSpaces)
                line = Array(line[end...].drop { $0 == " " })
                (used, breakable) = (line.reduce(0) { $0 + $1.columns }, 0)
            }
            guard character != " " || !line.isEmpty || lines.isEmpty else { continue }
            line.append(character)
            used += columns
            if character == " " || columns == 2 { breakable = line.count }
        }
        return lines + (line.isEmpty && !lines.isEmpty ? [] : [String(line).trimmingLastSpaces])
    }

    private var trimmingLastSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}
