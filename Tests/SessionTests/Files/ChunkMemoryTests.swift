import NIOCore
import Testing

@testable import LinnetSession

@Suite(.timeLimit(.minutes(1)))
struct ChunkMemoryTests {
    private let memory = ChunkMemory()

    /// Returns the address of a buffer's memory.
    private func place(_ buffer: ByteBuffer) -> UInt {
        buffer.withVeryUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    /// Makes a chunk whose bytes have one value.
    private func chunk(_ byte: UInt8) -> ByteBuffer {
        var chunk = memory.take(4096)
        chunk.writeRepeatingByte(byte, count: 4096)
        memory.keep(chunk)
        return chunk
    }

    @Test func theMemoryOfAReleasedChunkIsUsedAgain() {
        let former = place(chunk(1))
        let next = memory.take(4096)
        #expect(place(next) == former)
        #expect(next.readableBytes == 0)
    }

    @Test func theMemoryOfAChunkInUseIsLeftAlone() {
        let first = chunk(1)
        let part = chunk(2).getSlice(at: 100, length: 10)
        let third = chunk(3)
        #expect(first == ByteBuffer(repeating: 1, count: 4096))
        #expect(part == ByteBuffer(repeating: 2, count: 10))
        #expect(third == ByteBuffer(repeating: 3, count: 4096))
    }

    @Test func threeChunksAreKept() {
        var chunks = (1...5).map { chunk($0) }
        let places = chunks.map(place)
        chunks.removeAll()
        // They are held, so that each call takes another one.
        let taken = (1...4).map { _ in memory.take(4096) }
        #expect(taken.prefix(3).map(place) == places.suffix(3).reversed())
    }
}
