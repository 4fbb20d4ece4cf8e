/// Breaks text into lines by display width.
enum TextWrapping {
    /// Returns the lines of a text: it is broken at spaces and beside wide characters, and within a word that is wider
    /// than a line. A width below 2 counts as 2, so that each character fits.
    static func lines(_ text: String, width: Int) -> [String] {
        let width = max(2, width)
        var lines: [String] = []
        var (line, used) = ("", 0)
        func end() {
            while line.last == " " { line.removeLast() }
            lines.append(line)
            (line, used) = ("", 0)
        }
        for piece in pieces(text) {
            let columns = DisplayWidth.of(piece)
            if used + columns <= width {
                line += piece
                used += columns
            } else if piece == " " {
                end()
            } else {
                if used > 0 { end() }
                for character in piece {
                    let columns = DisplayWidth.of(character)
                    if used + columns > width { end() }
                    line.append(character)
                    used += columns
                }
            }
        }
        if !line.isEmpty || lines.isEmpty { end() }
        return lines
    }

    /// Returns the text if it fits, and otherwise its beginning with an ellipsis.
    static func truncated(_ text: String, width: Int) -> String {
        guard DisplayWidth.of(text) > width else { return text }
        var (result, used) = ("", 0)
        for character in text {
            let columns = DisplayWidth.of(character)
            guard used + columns <= width - 1 else { break }
            result.append(character)
            used += columns
        }
        return width > 0 ? result + "…" : ""
    }

    /// The words, spaces and wide characters of a text, in order.
    private static func pieces(_ text: String) -> [String] {
        var pieces: [String] = []
        var word = ""
        func end() {
            if !word.isEmpty { pieces.append(word) }
            word = ""
        }
        for character in text {
            if character == " " || DisplayWidth.of(character) == 2 {
                end()
                pieces.append(String(character))
            } else {
                word.append(character)
            }
        }
        end()
        return pieces
    }
}
