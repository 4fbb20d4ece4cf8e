/// Turns frames into escape sequences: only cells that differ from the previous frame are written.
struct ScreenWriter {
    let depth: ColorDepth
    private var shown: ScreenBuffer?

    init(depth: ColorDepth) {
        self.depth = depth
    }

    /// Forgets the previous frame, so that the next one is written whole.
    mutating func invalidate() {
        shown = nil
    }

    /// Returns the sequences that change the previous frame into this one; empty if they are equal.
    ///
    /// The frame is written as one synchronized update (DEC mode 2026), which terminals without it ignore.
    mutating func sequences(for frame: ScreenBuffer) -> String {
        let previous = shown?.size == frame.size ? shown : nil
        var output = previous == nil ? "\u{1B}[0m\u{1B}[2J" : ""
        var pen = Pen(depth: depth)
        for y in 0..<frame.size.height {
            for x in 0..<frame.size.width {
                let cell = frame[x, y]
                if let previous {
                    if previous[x, y] == cell { continue }
                } else if cell == .blank {
                    continue
                }
                // The right half of a wide character is written with the left one.
                if !cell.text.isEmpty { pen.draw(cell, x: x, y: y, into: &output) }
            }
        }
        shown = frame
        return output.isEmpty ? "" : "\u{1B}[?2026h\(output)\u{1B}[0m\u{1B}[?2026l"
    }

    /// The place and the style at which the terminal writes next.
    private struct Pen {
        let depth: ColorDepth
        var place: (x: Int, y: Int)?
        var style: Style?

        mutating func draw(_ cell: Cell, x: Int, y: Int, into output: inout String) {
            if place?.x != x || place?.y != y { output += "\u{1B}[\(y + 1);\(x + 1)H" }
            if style != cell.style {
                output += depth.sequence(cell.style)
                style = cell.style
            }
            output += cell.text
            // Terminals disagree about the width of some clusters: after these, the place is set anew.
            let isSimple = cell.text.unicodeScalars.count == 1 && DisplayWidth.of(cell.text) == 1
            place = isSimple ? (x + 1, y) : nil
        }
    }
}
