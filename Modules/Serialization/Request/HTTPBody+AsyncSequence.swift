public import FoundationEssentials

extension HTTPBody {
    /// A body from an async sequence of chunks.
    ///
    /// - Parameters:
    ///   - chunks: The content. It is iterated when the body is sent, not before.
    ///   - length: The exact number of bytes, or nil if it is not known.
    ///   - isReplayable: Whether the sequence gives the same bytes each time it is iterated. The default is false, and
    ///     then it is iterated once only.
    ///   - replayObstacle: Why it cannot be replayed, for the error of whoever tries.
    public static func chunks<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64?, isReplayable: Bool = false, replayObstacle: String? = nil
    ) -> HTTPBody where Chunks.Element: DataProtocol {
        stream(length: length, isReplayable: isReplayable, replayObstacle: replayObstacle) {
            ChunkSequenceReader<Chunks>(iterator: chunks.makeAsyncIterator())
        }
    }

    /// A body from an async sequence of bytes, which are gathered into chunks of 64 KiB; see
    /// ``chunks(_:length:isReplayable:replayObstacle:)``.
    public static func bytes<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, length: Int64?, isReplayable: Bool = false, replayObstacle: String? = nil
    ) -> HTTPBody where Bytes.Element == UInt8 {
        stream(length: length, isReplayable: isReplayable, replayObstacle: replayObstacle) {
            ByteSequenceReader<Bytes>(iterator: bytes.makeAsyncIterator())
        }
    }
}

/// Pulls chunks from an async sequence.
private struct ChunkSequenceReader<Chunks: AsyncSequence>: HTTPBodyReader where Chunks.Element: DataProtocol {
    var iterator: Chunks.AsyncIterator

    mutating func next() async throws -> Data? {
        guard let chunk = try await iterator.next(isolation: #isolation) else { return nil }
        return chunk as? Data ?? Data(chunk)
    }
}

/// Gathers bytes from an async sequence.
private struct ByteSequenceReader<Bytes: AsyncSequence>: HTTPBodyReader where Bytes.Element == UInt8 {
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
