import CommandSupport
import Foundation
import LinnetMultipart
import LinnetSerialization
import Testing

private let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
}

/// Forms are read by Python's `email`, which others wrote.
@Suite(.timeLimit(.minutes(5)), .enabled(if: python != nil, "python3 is not installed"))
struct MultipartPythonTests {
    private struct Part: Equatable {
        var name: String
        var fileName: String?
        var contentType: String?
        var content: Data
    }

    @Test func randomFormsAreReadBackPartByPart() async throws {
        var forms: [(form: MultipartForm, parts: [Part])] = []
        for _ in 0..<60 { forms.append(randomForm()) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-forms-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (index, entry) in forms.enumerated() {
            let head = Data("Content-Type: \(entry.form.contentType)\r\n\r\n".utf8)
            try (head + (await collect(entry.form))).write(to: folder.appending(path: "\(index)"))
        }
        let seen = try #require(try run(Self.script, folder.path, String(forms.count)).array)
        try #require(seen.count == forms.count)
        for (entry, parts) in zip(forms, seen) {
            #expect(try #require(parts.array).map(part) == entry.parts)
        }
    }

    private func part(_ value: JSONValue) -> Part {
        Part(
            name: value["name"]?.string ?? "",
            fileName: value["filename"]?.string,
            contentType: value["type"]?.string,
            content: Data(base64Encoded: value["content"]?.string ?? "") ?? Data()
        )
    }

    private func randomForm() -> (MultipartForm, [Part]) {
        var form = MultipartForm()
        var parts: [Part] = []
        for _ in 0..<Int.random(in: 1...5) {
            let content = Data((0..<[0, 1, 50, 70_000][Int.random(in: 0...3)]).map { _ in randomByte() })
            var part = Part(name: randomName(), content: content)
            if Bool.random() {
                part.fileName = randomName()
                part.contentType = ["text/plain", "application/octet-stream"].randomElement()
            }
            form.append(content, name: part.name, fileName: part.fileName, contentType: part.contentType)
            part.name = escaped(part.name)
            part.fileName = part.fileName.map(escaped)
            parts.append(part)
        }
        return (form, parts)
    }

    /// Many line ends and hyphens, which a parser could stumble over.
    private func randomByte() -> UInt8 {
        Bool.random() ? .random(in: 0...255) : [13, 10, 45, 34][Int.random(in: 0...3)]
    }

    private func randomName() -> String {
        let alphabet = ["a", "Z", " ", "\"", "\r", "\n", "%", "%22", ";", "=", "é", "🐦", "ש", "'", "/", "[", "]", "漢"]
        return "n" + (0..<Int.random(in: 0...8)).compactMap { _ in alphabet.randomElement() }.joined() + "e"
    }

    private func escaped(_ name: String) -> String {
        name.replacing("\r\n", with: "%0D%0A").replacing("\"", with: "%22").replacing("\r", with: "%0D")
            .replacing("\n", with: "%0A")
    }

    private func run(_ script: String, _ arguments: String...) throws -> JSONValue {
        let run: Command = try Command.run([try #require(python), "-c", script] + arguments)
        try #require(run.status == 0)
        return try JSONValue(parsing: run.output)
    }

    private static let script = """
        import base64, email, json, sys
        from email.message import Message
        out = []
        for i in range(int(sys.argv[2])):
            with open(sys.argv[1] + "/" + str(i), "rb") as f:
                message = email.message_from_bytes(f.read())
            assert message.is_multipart() and not message.defects, message.defects
            parts = []
            for part in message.get_payload():
                assert not part.defects, part.defects
                raw = dict(part._headers)
                text = raw["Content-Disposition"].encode("ascii", "surrogateescape").decode("utf-8")
                head = Message()
                head["Content-Disposition"] = text
                parts.append({
                    "name": head.get_param("name", header="content-disposition"),
                    "filename": head.get_param("filename", header="content-disposition"),
                    "type": raw.get("Content-Type"),
                    "content": base64.b64encode(part.get_payload(decode=True)).decode(),
                })
            out.append(parts)
        json.dump(out, sys.stdout)
        """
}
