import FoundationEssentials

/// Gives a file's bytes in chunks of 512 KiB, for those who read a body themselves; a session has a faster way.
struct FileBodyReader: HTTPBodyReader {
    private static let chunkSize = 512 * 1024

    private let file: OpenBodyFile
    private var offset: Int64 = 0

    init(_ file: OpenBodyFile) { self.file = file }

    mutating func next() async throws -> Data? {
        var chunk = Data(count: Self.chunkSize)
        let position = offset
        let count = try chunk.withUnsafeMutableBytes { bytes in try file.read(into: bytes, at: position) }
        offset += Int64(count)
        return count > 0 ? chunk.prefix(count) : nil
    }
}
