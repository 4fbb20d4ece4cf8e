import NIOCore
import Testing

@testable import LinnetTransport

@Suite("The chunks of a body on their way to the socket", .timeLimit(.minutes(1)))
struct ChunkWindowTests {
    @Test func aChunkIsPassedOnAtOnce() {
        var window = ChunkWindow()
        #expect(window.isEmpty && window.hasRoom)
        #expect(window.add(ByteBuffer(string: "a")) == ByteBuffer(string: "a"))
        #expect(!window.isEmpty && window.hasRoom)
        #expect(window.accepted() == nil)
        #expect(window.isEmpty)
    }

    @Test func chunksThatComeMeanwhileAreJoined() {
        var window = ChunkWindow()
        _ = window.add(ByteBuffer(string: "a"))
        #expect(window.add(ByteBuffer(string: "b")) == nil)
        #expect(window.add(ByteBuffer(string: "cd")) == nil)
        #expect(window.accepted() == ByteBuffer(string: "bcd"))
        #expect(window.add(ByteBuffer(string: "e")) == nil, "The joined chunks are on their way.")
        #expect(window.accepted() == ByteBuffer(string: "e"))
        #expect(window.accepted() == nil)
        #expect(window.isEmpty)
    }

    @Test func theReaderWaitsOnceThereIsEnough() {
        var window = ChunkWindow()
        let chunk = ByteBuffer(repeating: 0x61, count: 4096)
        for _ in 0..<3 {
            _ = window.add(chunk)
            #expect(window.hasRoom)
        }
        _ = window.add(chunk)
        #expect(!window.hasRoom)
        #expect(window.accepted()?.readableBytes == 3 * 4096)
        #expect(window.hasRoom)
    }

    @Test func aLargeChunkIsNotFollowedBeforeItIsAccepted() {
        var window = ChunkWindow()
        _ = window.add(ByteBuffer(repeating: 0x61, count: 16 * 1024))
        #expect(!window.hasRoom && !window.isEmpty)
        _ = window.accepted()
        #expect(window.hasRoom)
    }
}
