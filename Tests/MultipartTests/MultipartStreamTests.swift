import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartStreamTests {
    private func form(_ chunks: [String], length: Int64?, isReplayable: Bool) throws -> MultipartForm {
        var form = try MultipartForm(boundary: "B")
        let data = chunks.map { Data($0.utf8) }
        form.append(
            stream: { ChunksReader(chunks: data) },
            name: "s",
            fileName: "s.txt",
            contentType: "text/plain",
            length: length,
            isReplayable: isReplayable
        )
        return form
    }

    private static let expected =
        "--B\r\nContent-Disposition: form-data; name=\"s\"; filename=\"s.txt\"\r\nContent-Type: text/plain\r\n\r\n"
        + "hello\r\n--B--\r\n"

    @Test func streamOfKnownLengthGivesAContentLength() async throws {
        let form = try form(["he", "", "llo"], length: 5, isReplayable: true)
        #expect(form.contentLength == Int64(Self.expected.utf8.count))
        let body = form.makeBody()
        #expect(body.isReplayable)
        for _ in 0..<2 { #expect(String(decoding: try await collect(body), as: UTF8.self) == Self.expected) }
    }

    @Test func streamOfUnknownLengthGivesNoContentLength() async throws {
        let form = try form(["hello"], length: nil, isReplayable: true)
        #expect(form.contentLength == nil)
        #expect(form.makeBody().length == nil)
        #expect(String(decoding: try await collect(form), as: UTF8.self) == Self.expected)
    }

    @Test(arguments: [Int64(4), 6, 0, -1])
    func wrongLengthIsATypedError(length: Int64) async throws {
        let form = try form(["hel", "lo"], length: length, isReplayable: true)
        let error = await #expect(throws: MultipartError.self) { try await collect(form) }
        #expect(error?.code == .lengthMismatch)
        #expect(error?.partName == "s")
    }

    @Test func bodyNamesThePartThatCannotBeReplayed() async throws {
        var form = try form(["hello"], length: 5, isReplayable: false)
        form.append(Data("x".utf8), name: "other")
        let body = form.makeBody()
        #expect(!body.isReplayable)
        #expect(form.nonReplayablePartNames == ["s"])
        #expect(body.replayObstacle?.contains("\"s\"") == true)
        _ = try await collect(body)
        let error = #expect(throws: SerializationError.self) { try body.makeReader() }
        #expect(error?.code == .bodyNotReplayable)
        #expect(error?.message.contains("\"s\"") == true)
    }

    @Test func everyBodyOfAFormNamesThePart() async throws {
        let form = try form(["hello"], length: 5, isReplayable: false)
        _ = try await collect(form)
        let error = await #expect(throws: MultipartError.self) { try await collect(form) }
        #expect(error?.code == .partNotReplayable)
        #expect(error?.partName == "s")
    }

    @Test func largeChunksAreCut() async throws {
        let big = String(repeating: "x", count: 300_000)
        let data = try await collect(try form([big, "y"], length: 300_001, isReplayable: true))
        #expect(data.count == Self.expected.utf8.count - 5 + 300_001)
    }

    /// The source of the stream may wait until the server has the previous piece.
    @Test(.timeLimit(.minutes(1))) func bytesDoNotWaitForMoreOfTheStream() async throws {
        let (pieces, source) = AsyncStream.makeStream(of: Data.self)
        var form = try MultipartForm(boundary: "B")
        form.append(Data("x".utf8), name: "t")
        form.append(chunks: pieces, name: "s", length: nil)
        var reader = try form.makeBody().makeReader()
        let start = try await text(&reader)
        #expect(start?.contains("name=\"s\"") == true && start?.hasSuffix("\r\n\r\n") == true)
        for piece in ["a", "b"] {
            source.yield(Data(piece.utf8))
            let received = try await text(&reader)
            #expect(received == piece)
        }
        source.finish()
        let end = try await text(&reader)
        #expect(end == "\r\n--B--\r\n")
        let rest = try await reader.next()
        #expect(rest == nil)
    }

    private func text(_ reader: inout any HTTPRequestBodyReader) async throws -> String? {
        try await reader.next().map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func lengthsBeyondInt64AreUnknown() throws {
        let form = try form([], length: .max, isReplayable: true)
        #expect(form.contentLength == nil)
    }
}
