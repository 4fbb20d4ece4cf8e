import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Memory for deciphered bytes", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct TLSPlaintextPoolTests {
    private let pool = TLSPlaintextPool()

    /// A buffer with a byte, and its address.
    private func take(_ capacity: Int, _ byte: UInt8 = 0) -> (ByteBuffer, UnsafeRawPointer?) {
        let (buffer, address) = pool.buffer(capacity: capacity) { buffer in
            #expect(buffer.readableBytes == 0)
            #expect(buffer.writableBytes >= min(capacity, 65_536))
            buffer.writeInteger(byte)
            return buffer.withUnsafeReadableBytes { $0.baseAddress }
        }
        return (buffer, address)
    }

    @Test func anUnreferencedBufferIsReused() {
        let first = take(16_384).1
        #expect(take(16_384).1 == first)
        #expect(take(9_000).1 == first)
    }

    @Test func aReferencedBufferIsNotChanged() {
        var held: [ByteBuffer] = []
        for number in UInt8(0)..<100 { held.append(take(16_384, number).0) }
        for (number, buffer) in held.enumerated() { #expect(buffer.getInteger(at: 0) == UInt8(number)) }
    }

    @Test func aSliceHoldsItsBuffer() {
        var whole = take(16_384, 7).0
        let slice = whole.readSlice(length: 1)
        whole = ByteBuffer()
        _ = take(16_384, 8)
        #expect(slice?.getInteger(at: 0) == UInt8(7))
    }

    @Test func fewBytesAreNotPutIntoALargeBuffer() {
        _ = take(65_536)
        #expect(take(5_000).0.capacity == 8_192)
    }

    @Test func noBufferIsLargerThanTheLargest() {
        #expect(take(10_000_000).0.capacity == 65_536)
    }

    @Test func oneForEachThread() {
        #expect(TLSPlaintextPool.current === TLSPlaintextPool.current)
    }
}
