import FoundationEssentials

/// Pictures by the terminal graphics protocol of kitty, as cells with placeholders (U+10EEEE).
///
/// The placeholders are ordinary characters, so the screen's rows can be moved and overwritten like text.
enum KittyGraphics {
    /// Asks whether the terminal has the protocol, then for its attributes, which all terminals answer.
    static let query = "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"
    /// Removes all pictures from the terminal's memory.
    static let removeAll = "\u{1B}_Ga=d,d=A,q=2\u{1B}\\"

    /// The largest piece of data in one command.
    private static let pieceSize = 4096
    /// The marks for rows and columns 0 to 11.
    private static let marks: [Unicode.Scalar] = [
        "\u{0305}", "\u{030D}", "\u{030E}", "\u{0310}", "\u{0312}", "\u{033D}", "\u{033E}", "\u{033F}", "\u{0346}",
        "\u{034A}", "\u{034B}", "\u{034C}",
    ]

    /// Whether an answer of the terminal confirms the protocol.
    static func isSupported(by answer: String) -> Bool { answer.hasPrefix("_Gi=31;") && answer.hasSuffix("OK") }

    /// The commands that send a PNG file, to be shown in a rectangle of cells.
    static func transmission(_ png: Data, id: Int, columns: Int, rows: Int) -> String {
        let text = Array(png.base64EncodedString().utf8)
        var (commands, start) = ("", 0)
        repeat {
            let end = min(start + pieceSize, text.count)
            let options = start == 0 ? "a=T,U=1,q=2,f=100,i=\(id),c=\(columns),r=\(rows)," : ""
            let isLast = end == text.count
            commands +=
                "\u{1B}_G\(options)m=\(isLast ? 0 : 1);\(String(decoding: text[start..<end], as: UTF8.self))\u{1B}\\"
            start = end
        } while start < text.count
        return commands
    }

    /// Puts the placeholders of a picture on a frame. The foreground's colour is the picture's number, which is below
    /// 2^24.
    static func draw(id: Int, x: Int, y: Int, columns: Int, rows: Int, on frame: inout ScreenBuffer) {
        let color = Color(UInt8(id >> 16 & 0xFF), UInt8(id >> 8 & 0xFF), UInt8(id & 0xFF))
        for row in 0..<min(rows, marks.count) {
            for column in 0..<min(columns, marks.count) {
                let text = "\u{10EEEE}\(marks[row])\(marks[column])"
                frame.put(Cell(text: text, style: Style(foreground: color)), x: x + column, y: y + row)
            }
        }
    }
}
