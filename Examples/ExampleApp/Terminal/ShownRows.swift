/// The rows that a terminal shows.
struct ShownRows {
    private var rows: [String] = []

    /// Returns the sequences that change the shown rows into these; empty if they are equal.
    ///
    /// They are written as one synchronized update (DEC mode 2026), which terminals without it ignore.
    mutating func sequences(for rows: [String]) -> String {
        var output = self.rows.count == rows.count ? "" : "\u{1B}[0m\u{1B}[2J"
        let known = output.isEmpty ? self.rows : Array(repeating: "", count: rows.count)
        for (y, row) in rows.enumerated() where row != known[y] { output += "\u{1B}[\(y + 1);1H\u{1B}[2K" + row }
        self.rows = rows
        return output.isEmpty ? "" : "\u{1B}[?2026h\(output)\u{1B}[?2026l"
    }
}
