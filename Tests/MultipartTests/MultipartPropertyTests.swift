import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization
import Testing

/// Encoded forms read back.
@Suite(.timeLimit(.minutes(5))) struct MultipartPropertyTests {
    private struct Expected: Equatable {
        var name: String
        var fileName: String?
        var contentType: String?
        var content: Data
    }

    @Test(arguments: 0..<20 as Range<UInt64>) func randomFormsAreReadBack(seed: UInt64) async throws {
        var generator = SplitMix(seed: seed)
        for round in 0..<15 {
            let (form, expected) = randomForm(&generator)
            let body = try await collect(form)
            #expect(form.contentLength == nil || form.contentLength == Int64(body.count))
            let pieces = cut(body, &generator)
            let reader = try MultipartReader(Elements(elements: pieces), contentType: form.contentType)
            let parts = try await reader.collect().map {
                Expected(
                    name: $0.name ?? "", fileName: $0.fileName, contentType: $0.headerFields[.contentType],
                    content: $0.body)
            }
            #expect(parts == expected, "seed \(seed), round \(round)")
        }
    }

    @Test(arguments: 100..<110 as Range<UInt64>) func nestedFormsAreReadBack(seed: UInt64) async throws {
        var generator = SplitMix(seed: seed)
        var contents: [Data] = []
        var form = MultipartForm(subtype: .mixed)
        for level in 0..<4 {
            let content = randomContent(&generator)
            contents.append(content)
            var next = MultipartForm(subtype: .mixed)
            next.append(headerFields: [:], body: content)
            if level > 0 { next.append(headerFields: [.contentType: form.contentType], body: form.makeBody()) }
            form = next
        }
        var parts = try MultipartPart.all(
            in: try await collect(form), contentType: form.contentType, readsNestedParts: true)
        for content in contents.reversed() {
            #expect(parts.first?.body == content)
            parts = parts.last?.parts ?? []
        }
    }

    private func randomForm(_ generator: inout SplitMix) -> (MultipartForm, [Expected]) {
        var form = MultipartForm()
        form.addsExtendedFileNames = Bool.random(using: &generator)
        form.chunkSize = [1, 13, 1000, 65_536].randomElement(using: &generator) ?? 1
        var expected: [Expected] = []
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            var part = Expected(name: randomName(&generator), content: randomContent(&generator))
            if Bool.random(using: &generator) { part.fileName = randomName(&generator) }
            part.contentType = [nil, "text/plain", "image/png; a=\"b;c\""].randomElement(using: &generator) ?? nil
            switch Int.random(in: 0...2, using: &generator) {
            case 0:
                form.append(part.content, name: part.name, fileName: part.fileName, contentType: part.contentType)
            case 1:
                let known = Bool.random(using: &generator)
                form.append(
                    chunks: Elements(elements: cut(part.content, &generator)), name: part.name, fileName: part.fileName,
                    contentType: part.contentType, length: known ? Int64(part.content.count) : nil)
            default:
                form.append(
                    bytes: Elements(elements: Array(part.content)), name: part.name, fileName: part.fileName,
                    contentType: part.contentType, length: nil, isReplayable: true)
            }
            expected.append(part)
        }
        return (form, expected)
    }

    /// Names without ambiguous parts: literal `%22`, `%0D` and `%0A`, and backslashes before backslashes and at the
    /// end.
    private func randomName(_ generator: inout SplitMix) -> String {
        let pieces = [
            "a", "Z", " ", "\"", "\r", "\n", "\r\n", "%", "%4", "%%", ";", "=", "é", "🐦", "👩‍👩‍👧", "שלום", "\u{202E}", "'",
            "/", "[]", "漢", "\\x", "*", "--", "e\u{301}",
        ]
        let count = Int.random(in: 0...8, using: &generator)
        return (0..<count).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
    }

    private func randomContent(_ generator: inout SplitMix) -> Data {
        let count = [0, 1, 2, 40, 3000].randomElement(using: &generator) ?? 0
        return Data(
            (0..<count).map { _ in
                Bool.random(using: &generator)
                    ? UInt8.random(in: 0...255, using: &generator)
                    : [13, 10, 45, 34].randomElement(using: &generator) ?? 0
            })
    }

    private func cut(_ data: Data, _ generator: inout SplitMix) -> [Data] {
        var rest = data
        var pieces: [Data] = []
        while !rest.isEmpty {
            let count = Int.random(in: 0...max(1, min(rest.count, 200)), using: &generator)
            pieces.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}
