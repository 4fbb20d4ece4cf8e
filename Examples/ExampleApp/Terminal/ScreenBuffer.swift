/// The size of a terminal, in cells.
struct TerminalSize: Hashable, Sendable {
    var width: Int
    var height: Int
}

/// One place on the screen.
struct Cell: Hashable, Sendable {
    static let blank = Cell(text: " ", style: .plain)

    /// A grapheme cluster; empty for the right half of a wide one.
    var text: String
    var style: Style
}

/// A frame: rows of cells.
struct ScreenBuffer: Hashable, Sendable {
    let size: TerminalSize
    private var cells: [Cell]

    init(size: TerminalSize) {
        self.size = TerminalSize(width: max(0, size.width), height: max(0, size.height))
        cells = Array(repeating: .blank, count: self.size.width * self.size.height)
    }

    /// The cell at a place, which must be on the screen.
    private(set) subscript(x: Int, y: Int) -> Cell {
        get { cells[y * size.width + x] }
        set { cells[y * size.width + x] = newValue }
    }

    /// Writes text from a place, and returns the column after it. Text beyond `end` or the screen is omitted, and so
    /// are characters without a width.
    @discardableResult
    mutating func write(_ text: String, x: Int, y: Int, style: Style = .plain, end: Int? = nil) -> Int {
        let end = min(end ?? size.width, size.width)
        guard (0..<size.height).contains(y) else { return x }
        var x = x
        for character in text {
            let columns = DisplayWidth.of(character)
            guard columns > 0 else { continue }
            guard x >= 0, x + columns <= end else { break }
            put(Cell(text: String(character), style: style), columns: columns, x: x, y: y)
            x += columns
        }
        return x
    }

    /// Writes one cell unchanged.
    mutating func put(_ cell: Cell, x: Int, y: Int) {
        guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { return }
        put(cell, columns: 1, x: x, y: y)
    }

    /// Fills the part of a rectangle on the screen.
    mutating func fill(x: Range<Int>, y: Range<Int>, style: Style = .plain, with text: String = " ") {
        for row in y {
            for column in x { put(Cell(text: text, style: style), x: column, y: row) }
        }
    }

    private mutating func put(_ cell: Cell, columns: Int, x: Int, y: Int) {
        for column in x..<x + columns { eraseOtherHalf(ofCellAt: column, y: y) }
        self[x, y] = cell
        if columns == 2 { self[x + 1, y] = Cell(text: "", style: cell.style) }
    }

    /// Makes the other half of a wide character blank, because one of its halves is overwritten.
    private mutating func eraseOtherHalf(ofCellAt x: Int, y: Int) {
        if self[x, y].text.isEmpty, x > 0 { self[x - 1, y].text = " " }
        if x + 1 < size.width, self[x + 1, y].text.isEmpty { self[x + 1, y].text = " " }
    }

    /// The characters of the screen without styles, one line per row, without trailing spaces.
    var text: String {
        (0..<size.height).map { y in
            var line = (0..<size.width).map { self[$0, y].text }.joined()
            while line.last == " " { line.removeLast() }
            return line
        }.joined(separator: "\n")
    }
}
