import ExampleSupport
import FoundationEssentials

/// Standard output, as text or as JSON.
struct Output {
    let isJSON: Bool

    /// Writes the value as JSON, or the text.
    func write(_ value: some Encodable, text: String) throws {
        guard isJSON else { return try StandardStream.output.write(text) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        let json = String(decoding: try encoder.encode(value), as: UTF8.self)
        try StandardStream.output.write(TerminalJSON.text(json) + "\n")
    }

    /// Writes an error to standard error, and continues.
    func complain(_ text: String) throws {
        try StandardStream.error.write("\(ProgramName.inMessages(of: "pins")): \(OneLine.text(text))\n")
    }

    /// Writes an error to standard error, and as JSON to standard output where JSON is requested.
    func fail(_ message: String) throws {
        try complain(message)
        if isJSON { try write(["error": OneLine.text(message)], text: "") }
    }
}
