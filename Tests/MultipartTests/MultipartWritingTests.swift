import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartWritingTests {
    private struct Broken: Error {}

    private struct BrokenReader: HTTPRequestBodyReader {
        mutating func next() async throws -> Data? { throw Broken() }
    }

    private func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func fileHoldsTheBodyAndProgressIsReported() async throws {
        let file = try TemporaryFile(Data(repeating: 5, count: 200_000), name: "in.bin")
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        let folder = file.url.deletingLastPathComponent()
        let target = folder.appending(path: "out put é.bin")
        try Data("old".utf8).write(to: target)
        var told: [Int64] = []
        let total = form.contentLength
        let written = try await form.write(to: target) { written, whole in
            told.append(written)
            #expect(whole == total)
        }
        #expect(written == total)
        #expect(told == told.sorted())
        #expect(told.count == 4)
        #expect(told.last == total)
        #expect(try Data(contentsOf: target) == (try await collect(form)))
        #expect(try names(folder) == ["in.bin", "out put é.bin"])
        let mode = try FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let body = try HTTPRequestBody.file(target)
        #expect(body.length == written)
        #expect(body.isReplayable)
    }

    @Test func fileNameMayHaveTheFileSystemsMaximumLength() async throws {
        let file = try TemporaryFile(Data(), name: "in.bin")
        let folder = file.url.deletingLastPathComponent()
        let name = String(repeating: "🐦", count: 63)
        var form = MultipartForm()
        form.append("x", name: "a")
        let written = try await form.write(to: folder.appending(path: name))
        #expect(written == form.contentLength)
        #expect(try names(folder) == ["in.bin", name])
    }

    @Test func streamOfUnknownLengthHasALengthInTheFile() async throws {
        let file = try TemporaryFile(Data(), name: "in.bin")
        var form = MultipartForm()
        form.append(chunks: Elements(elements: [Data("abc".utf8)]), name: "s", length: nil)
        var told: [Int64?] = []
        let written = try await form.write(to: file.url) { told.append($1) }
        // The head of the part, its piece, and the end.
        #expect(told == [nil, nil, nil])
        #expect(try HTTPRequestBody.file(file.url).length == written)
    }

    @Test func failureLeavesTheOldFile() async throws {
        let file = try TemporaryFile(Data("old".utf8), name: "out.bin")
        var form = MultipartForm()
        form.append(Data(repeating: 1, count: 200_000), name: "a")
        form.append(stream: { BrokenReader() }, name: "s", length: nil, isReplayable: true)
        await #expect(throws: Broken.self) { try await form.write(to: file.url) }
        #expect(try Data(contentsOf: file.url) == Data("old".utf8))
        #expect(try names(file.url.deletingLastPathComponent()) == ["out.bin"])
    }

    @Test func cancellationLeavesNoFile() async throws {
        let file = try TemporaryFile(Data("old".utf8), name: "out.bin")
        let url = file.url
        var form = MultipartForm()
        form.append(Data(repeating: 1, count: 200_000), name: "a")
        let held = form
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await held.write(to: url)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try names(url.deletingLastPathComponent()) == ["out.bin"])
    }

    @Test func unwritableFileIsATypedError() async throws {
        var form = MultipartForm()
        form.append("x", name: "a")
        let folder = FileManager.default.temporaryDirectory
        let urls = [
            folder.appending(path: "linnet-\(UUID().uuidString)/out"), URL(string: "https://example.com/x"),
            URL(string: "file:///tmp/a%00b"),
        ]
        for url in urls {
            let url = try #require(url)
            let error = await #expect(throws: MultipartError.self) { try await form.write(to: url) }
            #expect(error?.code == .unwritableFile)
        }
        let file = try TemporaryFile(Data())
        let error = await #expect(throws: MultipartError.self) {
            try await form.write(to: file.url.deletingLastPathComponent())
        }
        #expect(error?.code == .unwritableFile)
        #expect((error?.underlying as? FileFailure)?.path.isEmpty == false)
        #expect(try names(file.url.deletingLastPathComponent()) == ["file.bin"])
    }

    @Test func emptyFormWritesNoFile() async throws {
        let file = try TemporaryFile(Data("old".utf8), name: "out.bin")
        let error = await #expect(throws: MultipartError.self) { try await MultipartForm().write(to: file.url) }
        #expect(error?.code == .emptyForm)
        #expect(try Data(contentsOf: file.url) == Data("old".utf8))
    }
}
