import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Testing

/// Pulls a whole body, and checks what every chunk must be.
func collect(_ body: HTTPBody) async throws -> Data {
    var reader = try body.makeReader()
    var data = Data()
    while let chunk = try await reader.next() {
        #expect(chunk.count <= 64 * 1024)
        data.append(chunk)
    }
    return data
}

func collect(_ form: MultipartForm) async throws -> Data { try await collect(form.makeBody()) }

/// Gives fixed chunks.
struct ChunksReader: HTTPBodyReader {
    var chunks: [Data]

    mutating func next() async throws -> Data? { chunks.isEmpty ? nil : chunks.removeFirst() }
}

/// A file that goes with the test.
final class TemporaryFile {
    let url: URL

    init(_ data: Data, name: String = "file.bin") throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appending(path: name)
        try data.write(to: url)
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
}
