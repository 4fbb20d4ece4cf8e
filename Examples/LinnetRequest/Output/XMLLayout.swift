import ExampleSupport

/// Indents and colors XML: each element begins a line, and an element with only text stays on one.
struct XMLLayout {
    private enum Place { case beginning, afterStart, afterText, afterEnd }

    private let colors: Colors
    private var output = ""
    private var depth = 0
    private var place = Place.beginning

    /// Returns the XML for a terminal, without a line break at its end; nil if its tags do not match in number.
    static func text(_ xml: String, _ colors: Colors) -> String? {
        var layout = XMLLayout(colors: colors)
        var rest = TerminalText.text(xml)[...]
        while !rest.isEmpty {
            guard layout.writeNext(&rest) else { return nil }
        }
        return layout.depth == 0 ? layout.output : nil
    }

    private init(colors: Colors) { self.colors = colors }

    /// Writes a tag or a text; returns false if a tag has no end.
    private mutating func writeNext(_ rest: inout Substring) -> Bool {
        guard rest.first == "<" else {
            writeText(rest.prefix { $0 != "<" }.trimmed)
            rest = rest.drop { $0 != "<" }
            return true
        }
        guard let end = Self.end(of: rest) else { return false }
        let tag = String(rest[..<end])
        rest = rest[end...]
        if tag.hasPrefix("</") {
            return writeEnd(tag)
        }
        breakLine()
        let opens = !tag.hasPrefix("<?") && !tag.hasPrefix("<!") && !tag.hasSuffix("/>")
        output += colors.paint(tag, opens || tag.hasSuffix("/>") ? .name : .mark)
        depth += opens ? 1 : 0
        place = opens ? .afterStart : .afterEnd
        return true
    }

    private mutating func writeText(_ text: Substring) {
        guard !text.isEmpty else { return }
        if place != .afterStart { breakLine() }
        output += text
        place = place == .afterStart ? .afterText : .afterEnd
    }

    private mutating func writeEnd(_ tag: String) -> Bool {
        depth -= 1
        guard depth >= 0 else { return false }
        if place == .afterEnd { breakLine() }
        output += colors.paint(tag, .name)
        place = .afterEnd
        return true
    }

    private mutating func breakLine() {
        if place != .beginning { output += "\n" + String(repeating: "    ", count: depth) }
        place = place == .beginning ? .afterEnd : place
    }

    /// The index after a tag, a comment, a CDATA section or an instruction.
    private static func end(of text: Substring) -> Substring.Index? {
        for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] where text.hasPrefix(start) {
            return text.firstRange(of: end)?.upperBound
        }
        var quote: Character?
        for index in text.indices {
            let character = text[index]
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character == ">" {
                return text.index(after: index)
            }
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
