internal import NIOCore
internal import Synchronization

/// The memory of the chunks of a file, which later chunks use again once nothing else refers to it.
final class ChunkMemory: Sendable {
    /// One chunk is on its way to the socket, and one is read meanwhile. Something may still refer to the chunk before
    /// them for a moment after the socket has accepted it.
    private static let mostChunks = 3

    /// The latest chunk is last.
    private let chunks = Mutex<[ByteBuffer]>([])

    /// Returns an empty buffer with room for a number of bytes.
    func take(_ size: Int) -> ByteBuffer {
        let used = chunks.withLock { chunks in
            let free = chunks.indices.reversed().first { chunks[$0].modifyIfUniquelyOwned { $0.clear() } != nil }
            return free.map { chunks.remove(at: $0) }
        }
        return used ?? ByteBufferAllocator().buffer(capacity: size)
    }

    /// Keeps the memory of a chunk for later ones.
    func keep(_ chunk: ByteBuffer) {
        let dropped = chunks.withLock { chunks in
            chunks.append(chunk)
            return chunks.count > Self.mostChunks ? chunks.removeFirst() : nil
        }
        // Freed after unlocking.
        withExtendedLifetime(dropped) {}
    }
}
