internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

/// Reads a body's file in large chunks on the executor for files, one chunk ahead of the transfer.
struct FileChunkReader: TransportBodyReader {
    private static let chunkSize = 512 * 1024

    private struct Chunk: Sendable {
        let file: OpenBodyFile
        let bytes: ByteBuffer
        /// The offset of the next chunk.
        let end: Int64
    }

    private let file: BodyFile
    private let control: (any TransferControl)?
    private var ahead: Task<Chunk, any Error>?
    private var isAtEnd = false

    init(file: BodyFile, control: (any TransferControl)?) {
        self.file = file
        self.control = control
    }

    mutating func next() async throws -> ByteBuffer? {
        try await control?.waitWhileSuspended()
        guard !isAtEnd else { return nil }
        let chunk = try await (ahead ?? Self.read(file, from: 0)).value
        isAtEnd = chunk.end >= file.size
        ahead = isAtEnd ? nil : Self.read(file, chunk.file, from: chunk.end)
        return chunk.bytes
    }

    private static func read(
        _ file: BodyFile, _ opened: OpenBodyFile? = nil, from offset: Int64
    ) -> Task<Chunk, any Error> {
        Task(executorPreference: FileExecutor.shared) {
            let opened = try opened ?? file.open()
            let size = Int(min(Int64(chunkSize), file.size - offset))
            var bytes = ByteBufferAllocator().buffer(capacity: size)
            let count = try bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { room in
                try opened.read(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(size)), at: offset)
            }
            return Chunk(file: opened, bytes: bytes, end: offset + Int64(count))
        }
    }
}
