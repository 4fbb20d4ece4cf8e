import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite(.timeLimit(.minutes(5))) struct MultipartFileTests {
    private func code(_ form: MultipartForm) async -> MultipartError.Code? {
        await #expect(throws: MultipartError.self) { try await collect(form) }?.code
    }

    @Test func aFormUsesItsTableOfMediaTypes() async throws {
        let file = try TemporaryFile(Data("x".utf8), name: "reads.FastQ")
        var form = try MultipartForm(boundary: "B")
        try form.append(fileAt: file.url, name: "a")
        form.mimeTypes["fastq"] = "text/x-fastq"
        try form.append(fileAt: file.url, name: "b")
        form.mimeTypes["fastq"] = nil
        try form.append(fileAt: file.url, name: "c")
        let parts = try MultipartPart.all(in: try await collect(form), contentType: form.contentType)
        #expect(
            parts.map { $0.contentType?.essence } == [
                "application/octet-stream", "text/x-fastq", "application/octet-stream",
            ])
    }

    @Test func fileThatGrewIsATypedError() async throws {
        let file = try TemporaryFile(Data("12345".utf8))
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        try Data("123456".utf8).write(to: file.url)
        #expect(await code(form) == .fileChanged)
    }

    @Test func fileThatShrankIsATypedError() async throws {
        let file = try TemporaryFile(Data("12345".utf8))
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        try Data("1234".utf8).write(to: file.url)
        #expect(await code(form) == .fileChanged)
    }

    @Test func removedFileIsATypedError() async throws {
        let file = try TemporaryFile(Data("12345".utf8))
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        try FileManager.default.removeItem(at: file.url)
        #expect(await code(form) == .fileChanged)
    }

    @Test(arguments: [10, 300_000, 150_000])
    func changeWhileReadingIsATypedError(newSize: Int) async throws {
        let file = try TemporaryFile(Data(repeating: 7, count: 200_000))
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        var reader = try form.makeBody().makeReader()
        #expect(try await reader.next()?.count == 64 * 1024)
        #expect(truncate(file.url.path, newSize) == 0)
        let error = await #expect(throws: MultipartError.self) {
            while try await reader.next() != nil {}
        }
        #expect(error?.code == .fileChanged)
        #expect(error?.partName == "f")
    }

    @Test func fileRemovedWhileReadingIsReadToItsEnd() async throws {
        let file = try TemporaryFile(Data(repeating: 7, count: 200_000))
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        var reader = try form.makeBody().makeReader()
        var total = try await reader.next()?.count ?? 0
        try FileManager.default.removeItem(at: file.url)
        while let chunk = try await reader.next() { total += chunk.count }
        #expect(Int64(total) == form.contentLength)
    }

    @Test func pipeInPlaceOfTheFileIsATypedErrorAndDoesNotHang() async throws {
        let file = try TemporaryFile(Data("12345".utf8))
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        try FileManager.default.removeItem(at: file.url)
        #expect(mkfifo(file.url.path, 0o600) == 0)
        #expect(await code(form) == .fileChanged)
    }

    @Test func otherPathsAreRefusedWhenAppended() throws {
        var form = MultipartForm()
        let folder = FileManager.default.temporaryDirectory
        let urls = [folder, folder.appending(path: "linnet-missing-\(UUID().uuidString)"), URL(string: "https://a/b")]
        for url in urls {
            let url = try #require(url)
            let error = #expect(throws: MultipartError.self) { try form.append(fileAt: url, name: "f") }
            #expect(error?.code == .unreadableFile)
        }
        #expect(form.isEmpty)
    }

    @Test func largeSparseFileIsReadInChunksWithConstantMemory() async throws {
        let size = 64 * 1024 * 1024
        let file = try TemporaryFile(Data())
        #expect(truncate(file.url.path, size) == 0)
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        var reader = try form.makeBody().makeReader()
        var total = 0
        var chunks = 0
        while let chunk = try await reader.next() {
            total += chunk.count
            chunks += 1
        }
        #expect(Int64(total) == form.contentLength)
        // All chunks are full except the last.
        #expect(chunks <= size / (64 * 1024) + 2)
    }

    @Test func emptyFileIsAnEmptyPart() async throws {
        let file = try TemporaryFile(Data(), name: "e.txt")
        var form = try MultipartForm(boundary: "B")
        try form.append(fileAt: file.url, name: "e")
        let text = String(decoding: try await collect(form), as: UTF8.self)
        #expect(text.hasSuffix("Content-Type: text/plain\r\n\r\n\r\n--B--\r\n"))
    }
}
