import ExampleSupport
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
        try StandardStream.error.write("linnet-pins: \(OneLine.text(text))\n")
    }
}
