import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartReaderTests {
    private struct Broken: Error {}

    private struct BrokenChunks: AsyncSequence, AsyncIteratorProtocol {
        var rest: [Data]

        mutating func next() async throws -> Data? {
            if rest.isEmpty { throw Broken() }
            return rest.removeFirst()
        }
        func makeAsyncIterator() -> BrokenChunks { self }
    }

    private static let body = lines("--B|Content-Disposition: form-data; name=\"a\"||x|--B||y|--B--|")

    @Test(arguments: [1, 2, 5, 1000]) func chunksBecomeParts(size: Int) async throws {
        let body = Self.body
        let chunks = stride(from: 0, to: body.count, by: size).map { body[$0..<min($0 + size, body.count)] }
        let reader = try MultipartReader(Elements(elements: chunks), contentType: "multipart/form-data; boundary=B")
        let parts = try await reader.collect()
        #expect(parts.map(\.name) == ["a", nil])
        #expect(parts.map(\.body) == [Data("x".utf8), Data("y".utf8)])
        var events = 0
        for try await _ in reader { events += 1 }
        #expect(events == 6)
    }

    @Test func bodyOfAFormIsParsedWhileItIsEncoded() async throws {
        let file = try TemporaryFile(Data(repeating: 3, count: 300_000))
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        let reader = try MultipartReader(BodyChunks(body: form.makeBody()), boundary: form.boundary)
        let parts = try await reader.collect()
        #expect(parts.map(\.body.count) == [300_000])
    }

    @Test func errorsOfTheChunksArePassedOn() async throws {
        let reader = try MultipartReader(BrokenChunks(rest: [Self.body.prefix(10)]), boundary: "B")
        await #expect(throws: Broken.self) { try await reader.collect() }
    }

    @Test func truncatedBodyIsATypedError() async throws {
        let reader = try MultipartReader(Elements(elements: [Self.body.dropLast(6)]), boundary: "B")
        let error = await #expect(throws: MultipartError.self) { try await reader.collect() }
        #expect(error?.code == .truncated)
    }

    @Test func collectedContentIsLimited() async throws {
        let reader = try MultipartReader(Elements(elements: [Self.body]), boundary: "B")
        #expect(try await reader.collect(upTo: 2).count == 2)
        let error = await #expect(throws: MultipartError.self) { try await reader.collect(upTo: 1) }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func malformedContentTypeOfAFileIsRefusedWhenAppended() {
        let error = #expect(throws: MultipartError.self) {
            try MultipartReader(Elements<Data>(elements: []), contentType: "text/plain")
        }
        #expect(error?.code == .notMultipart)
    }
}

/// A body as an async sequence.
private struct BodyChunks: AsyncSequence {
    let body: HTTPRequestBody

    struct AsyncIterator: AsyncIteratorProtocol {
        var reader: (any HTTPRequestBodyReader)?
        let body: HTTPRequestBody

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            var reader = try reader ?? body.makeReader()
            defer { self.reader = reader }
            return try await reader.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: nil, body: body) }
}
