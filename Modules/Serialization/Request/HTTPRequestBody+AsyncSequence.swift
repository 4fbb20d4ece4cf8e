public import FoundationEssentials

extension HTTPRequestBody {
    /// A body from an async sequence of chunks.
    ///
    /// - Parameters:
    /// - chunks: The content. Iteration starts when the body is sent.
    /// - length: The exact number of bytes; nil if it is unknown.
    /// - isReplayable: Whether each iteration gives the same bytes. The default is false, which allows one iteration.
    /// - replayObstacle: Why the body cannot be replayed, for error messages.
    public static func chunks<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64?, isReplayable: Bool = false, replayObstacle: String? = nil
    ) -> HTTPRequestBody where Chunks.Element: DataProtocol {
        stream(length: length, isReplayable: isReplayable, replayObstacle: replayObstacle) {
            ChunkSequenceReader<Chunks>(iterator: chunks.makeAsyncIterator())
        }
    }

    /// A body from an async sequence of bytes, collected into chunks of 64 KiB; see
    /// ``chunks(_:length:isReplayable:replayObstacle:)``.
    public static func bytes<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, length: Int64?, isReplayable: Bool = false, replayObstacle: String? = nil
    ) -> HTTPRequestBody where Bytes.Element == UInt8 {
        stream(length: length, isReplayable: isReplayable, replayObstacle: replayObstacle) {
            ByteSequenceReader<Bytes>(iterator: bytes.makeAsyncIterator())
        }
    }
}

/// Reads chunks from an async sequence.
private struct ChunkSequenceReader<Chunks: AsyncSequence>: HTTPRequestBodyReader where Chunks.Element: DataProtocol {
    var iterator: Chunks.AsyncIterator

    mutating func next() async throws -> Data? {
        guard let chunk = try await iterator.next(isolation: #isolation) else { return nil }
        return chunk as? Data ?? Data(chunk)
    }
}

/// Collects bytes from an async sequence.
private struct ByteSequenceReader<Bytes: AsyncSequence>: HTTPRequestBodyReader where Bytes.Element == UInt8 {
    private static var chunkSize: Int { 64 * 1024 }

    var iterator: Bytes.AsyncIterator
    private var isAtEnd = false

    init(iterator: Bytes.AsyncIterator) { self.iterator = iterator }

    mutating func next() async throws -> Data? {
        if isAtEnd { return nil }
        var chunk = [UInt8]()
        chunk.reserveCapacity(Self.chunkSize)
        while chunk.count < Self.chunkSize {
            guard let byte = try await iterator.next(isolation: #isolation) else {
                isAtEnd = true
                break
            }
            chunk.append(byte)
        }
        return chunk.isEmpty ? nil : Data(chunk)
    }
}
