import ExampleSupport

/// Draws the last requests as bars on one axis of time.
struct WaterfallDrawing {
    let waterfall: Waterfall
    let width: Int
    let style: TextStyle

    init(_ waterfall: Waterfall, width: Int, style: TextStyle) {
        (self.waterfall, self.width, self.style) = (waterfall, width, style)
    }

    /// A legend, and for each request a row with its bars and one with its figures; none without requests.
    var rows: [String] {
        guard !waterfall.rows.isEmpty else { return [] }
        return ["", legend]
            + waterfall.rows.flatMap { row in
                let name = OneLine.text(row.name).truncated(to: nameWidth)
                let blank = String(repeating: " ", count: nameWidth + 1 - name.columns)
                let figures = style.text(OneLine.text(row.figures).truncated(to: width - 2), .dim)
                return [style.text(name, .bold) + blank + bars(row.bars), "  " + figures]
            }
    }

    private var nameWidth: Int { min(20, width / 3) }

    private var legend: String {
        var (parts, used): ([String], Int) = ([], 0)
        for part in RequestTrace.Part.allCases {
            used += part.rawValue.count + 3
            guard used <= width else { break }
            parts.append("\(mark(part, count: 1)) \(part.rawValue)")
        }
        return parts.joined(separator: " ")
    }

    /// A column belongs to the part in its middle; each part has at least one, as far as there is room.
    private func bars(_ bars: [Waterfall.Bar]) -> String {
        let columns = max(1, width - nameWidth - 1)
        var (row, used) = ("", 0)
        for bar in bars {
            let start = min(max(used, Int(bar.start * Double(columns))), columns - 1)
            let end = min(max(start + 1, Int((bar.end * Double(columns)).rounded())), columns)
            guard start >= used else { continue }
            row += String(repeating: " ", count: start - used) + mark(bar.part, count: end - start)
            used = end
        }
        return row
    }

    private func mark(_ part: RequestTrace.Part, count: Int) -> String {
        let letter = style.hasColors ? "█" : String(part.rawValue.prefix(1))
        let color = TextStyle.color(red: part.color[0], green: part.color[1], blue: part.color[2])
        return style.text(String(repeating: letter, count: count), color: color)
    }
}
