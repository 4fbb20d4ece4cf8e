import CommandSupport
import FoundationEssentials
import Linnet
import Testing

/// Independent parsers parse forms: Werkzeug's, and Python's `email`.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(5)))
struct MultipartParsersTests {
    /// The names are compared in WHATWG's escaped form, because `%22` and an escaped quote are not distinguishable.
    private struct Part: Equatable {
        var name: String
        var fileName: String?
        var contentType: String?
        var content: Data
    }

    @Test func fiveHundredRandomFormsAreReadBackPartByPart() async throws {
        var generator = SplitMix(seed: 20_250_101)
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-forms-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var expected: [[Part]] = []
        for index in 0..<500 {
            let (form, parts) = randomForm(&generator)
            var whole = Data("Content-Type: \(form.contentType)\r\n\r\n".utf8)
            var reader = try form.makeBody().makeReader()
            while let chunk = try await reader.next() { whole.append(chunk) }
            try whole.write(to: folder.appending(path: "\(index)"))
            expected.append(parts)
        }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Servers/read-forms")
        let command = [try Environment.value(of: "LINNET_TEST_PYTHON"), script.path, folder.path]
        let run: Command = try await Command.run(command)
        try #require(run.status == 0, "\(run.errors)")
        let seen = try #require(try JSONValue(parsing: run.output).array)
        try #require(seen.count == expected.count)
        for (index, (form, parts)) in zip(seen, expected).enumerated() {
            for parser in ["email", "werkzeug"] {
                #expect(try #require(form[parser]?.array).map(part) == parts, "form \(index), \(parser)")
            }
        }
    }

    private func part(_ value: JSONValue) -> Part {
        Part(
            name: escaped(value["name"]?.string ?? ""),
            fileName: (value["filename"]?.string).map(escaped),
            contentType: value["type"]?.string,
            content: Data(base64Encoded: value["content"]?.string ?? "") ?? Data())
    }

    private func randomForm(_ generator: inout SplitMix) -> (MultipartForm, [Part]) {
        var form = MultipartForm()
        var parts: [Part] = []
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            let size = [0, 1, 50, 2_000, 70_000].randomElement(using: &generator) ?? 0
            let content = generator.bytes(size)
            let name = randomName(&generator)
            var part = Part(name: escaped(name), content: content)
            if Bool.random(using: &generator) {
                let fileName = randomName(&generator)
                part.fileName = escaped(fileName)
                part.contentType = ["text/plain", "application/octet-stream"].randomElement(using: &generator)
                form.append(content, name: name, fileName: fileName, contentType: part.contentType)
            } else {
                form.append(content, name: name)
            }
            parts.append(part)
        }
        return (form, parts)
    }

    private func randomName(_ generator: inout SplitMix) -> String {
        let pieces = [
            "a", "Z", " ", "\"", "\"\"", "\r", "\n", "\r\n", "%", "%%", "%22", "%0D", "%C3%A9", ";", "=", "é", "🐦",
            "👩‍👩‍👧", "שלום", "\u{202E}", "مرحبا", "'", "/", "[", "]", "漢", "--", "e\u{301}", "filename=",
        ]
        let count = Int.random(in: 0...12, using: &generator)
        return "n" + (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }.joined() + "e"
    }

    private func escaped(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "%22".utf8
            case 0x0D: bytes += "%0D".utf8
            case 0x0A: bytes += "%0A".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension SplitMix {
    /// Random bytes with many line breaks and hyphens, which are significant to a parser.
    fileprivate mutating func bytes(_ count: Int) -> Data {
        let frequent: [UInt8] = [13, 10, 45, 34]
        return Data(
            (0..<count).map { _ in
                let number = next()
                return number & 1 == 0 ? UInt8(truncatingIfNeeded: number >> 8) : frequent[Int(number >> 1 & 3)]
            })
    }
}
