import ExampleSupport
import FoundationEssentials
import LinnetJSON

/// Indents and colors JSON. Numbers, escapes and repeated names stay as they are.
struct JSONLayout {
    private let colors: Colors
    private var output = ""
    private var depth = 0

    /// Returns the JSON for a terminal, without a line break at its end; nil if the bytes are not JSON.
    static func text(_ json: Data, _ colors: Colors) -> String? {
        guard (try? JSONValue(parsing: json)) != nil else { return nil }
        var layout = JSONLayout(colors: colors)
        layout.write(TerminalJSON.text(String(decoding: json, as: UTF8.self)))
        return layout.output
    }

    private init(colors: Colors) { self.colors = colors }

    private mutating func write(_ json: String) {
        var rest = json.unicodeScalars[...]
        skipSpace(&rest)
        while let first = rest.first {
            switch first {
            case "\"": writeString(&rest)
            case "{", "[": writeOpening(&rest)
            case "}", "]":
                depth -= 1
                breakLine()
                writeMark(&rest)
            case ",":
                writeMark(&rest)
                breakLine()
            case ":":
                writeMark(&rest)
                output += " "
            default: writeWord(&rest)
            }
            skipSpace(&rest)
        }
    }

    private mutating func writeString(_ rest: inout Substring.UnicodeScalarView) {
        var end = rest.index(after: rest.startIndex)
        while end < rest.endIndex, rest[end] != "\"" {
            if rest[end] == "\\" { end = rest.index(after: end) }
            if end < rest.endIndex { end = rest.index(after: end) }
        }
        if end < rest.endIndex { end = rest.index(after: end) }
        let text = String(rest[..<end])
        rest = rest[end...]
        skipSpace(&rest)
        output += colors.paint(text, rest.first == ":" ? .name : .text)
    }

    private mutating func writeOpening(_ rest: inout Substring.UnicodeScalarView) {
        writeMark(&rest)
        skipSpace(&rest)
        if rest.first == "}" || rest.first == "]" { return writeMark(&rest) }
        depth += 1
        breakLine()
    }

    private mutating func writeWord(_ rest: inout Substring.UnicodeScalarView) {
        let end = rest.firstIndex { " \t\r\n,]}:".unicodeScalars.contains($0) } ?? rest.endIndex
        let word = String(rest[..<end])
        rest = rest[end...]
        output += colors.paint(word, ["true", "false", "null"].contains(word) ? .word : .number)
    }

    private mutating func writeMark(_ rest: inout Substring.UnicodeScalarView) {
        if let mark = rest.popFirst() { output.unicodeScalars.append(mark) }
    }

    private mutating func breakLine() { output += "\n" + String(repeating: "    ", count: max(0, depth)) }

    private func skipSpace(_ rest: inout Substring.UnicodeScalarView) {
        while let first = rest.first, " \t\r\n".unicodeScalars.contains(first) { rest.removeFirst() }
    }
}
