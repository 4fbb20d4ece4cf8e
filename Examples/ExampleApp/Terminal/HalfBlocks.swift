import LinnetImageSerialization

/// A picture that is made so small that each field is half a cell of the screen.
struct HalfBlocks: Sendable, Hashable {
    private let columns: Int
    private let rows: Int
    /// The colours, two rows of fields for each row of cells.
    private let fields: [Color]

    /// Scales a picture to fill a rectangle of cells.
    init(_ picture: Bitmap, columns: Int, rows: Int) {
        (self.columns, self.rows) = (columns, rows)
        fields = (0..<2 * rows).flatMap { row in
            (0..<columns).map { picture.average($0, of: columns, row, of: 2 * rows) }
        }
    }

    /// Draws the picture: the upper half of a cell has the foreground's colour, the lower half the background's.
    ///
    /// - Parameter shownRows: The number of rows of cells that are drawn, from the top.
    func draw(x: Int, y: Int, shownRows: Int, on frame: inout ScreenBuffer) {
        for row in 0..<min(rows, shownRows) {
            for column in 0..<columns {
                let place = 2 * row * columns + column
                let style = Style(foreground: fields[place], background: fields[place + columns])
                frame.put(Cell(text: "▀", style: style), x: x + column, y: y + row)
            }
        }
    }
}

extension Bitmap {
    /// The mean colour of one field of a grid over the picture, over black where it is transparent.
    func average(_ column: Int, of columns: Int, _ row: Int, of rows: Int) -> Color {
        let left = min(column * width / columns, width - 1)
        let right = max(left + 1, (column + 1) * width / columns)
        let top = min(row * height / rows, height - 1)
        let bottom = max(top + 1, (row + 1) * height / rows)
        var (red, green, blue) = (0, 0, 0)
        for y in top..<bottom {
            for x in left..<right {
                let place = (y * width + x) * 4
                let alpha = Int(pixels[place + 3])
                red += Int(pixels[place]) * alpha
                green += Int(pixels[place + 1]) * alpha
                blue += Int(pixels[place + 2]) * alpha
            }
        }
        let weight = (right - left) * (bottom - top) * 255
        return Color(UInt8(red / weight), UInt8(green / weight), UInt8(blue / weight))
    }
}
