/// The number of columns that text takes in a terminal.
enum DisplayWidth {
    /// Wide characters (Unicode Standard Annex 11: W and F) that are no emoji, as ranges of scalar values.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18D1E,
        0x1AFF0...0x1B2FB, 0x1D300...0x1D376, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
    private static let regionalIndicators: ClosedRange<UInt32> = 0x1F1E6...0x1F1FF
    private static let emojiVariation: Unicode.Scalar = "\u{FE0F}"
    private static let textVariation: Unicode.Scalar = "\u{FE0E}"

    static func of(_ text: some StringProtocol) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    /// The columns of one grapheme cluster: 0, 1 or 2.
    static func of(_ character: Character) -> Int {
        if let ascii = character.asciiValue { return (0x20..<0x7F).contains(ascii) ? 1 : 0 }
        let scalars = character.unicodeScalars
        guard let base = scalars.first(where: { width($0) > 0 }) else { return 0 }
        if scalars.contains(textVariation) { return isWide(base) ? 2 : 1 }
        // A flag is one cluster of two regional indicators.
        let isFlag = scalars.count { regionalIndicators.contains($0.value) } > 1
        let isEmoji = base.properties.isEmoji && scalars.contains(emojiVariation)
        return isFlag || isEmoji ? 2 : width(base)
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator: 0
        default: isEmoji(scalar) || isWide(scalar) ? 2 : 1
        }
    }

    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmojiPresentation && !regionalIndicators.contains(scalar.value)
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x1100 && wide.contains { $0.contains(scalar.value) }
    }
}
