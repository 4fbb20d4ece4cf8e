import FoundationEssentials

/// Standard output, as text or as JSON.
struct Output {
    let isJSON: Bool

    /// JSON where that was asked for, else the text.
    func write(_ value: some Encodable, text: String) throws {
        guard isJSON else { return try StandardStream.output.write(text) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        try StandardStream.output.write(encoder.encode(value) + Data("\n".utf8))
    }

    func complain(_ text: String) throws {
        try StandardStream.error.write("linnet-pins: \(Self.oneLine(text))\n")
    }

    /// The text with a space for what would move a terminal's cursor: certificates say what their makers want.
    static func oneLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: line.append(" ")
            default: line.append(scalar)
            }
        }
        return String(line)
    }
}
