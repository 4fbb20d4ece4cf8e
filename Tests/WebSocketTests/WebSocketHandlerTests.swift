import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testing

@testable import LinnetWebSocket

@Suite("A WebSocket on its event loop, with a given clock", .timeLimit(.minutes(1)))
struct WebSocketHandlerTests {
    /// Counts reads, and holds back writes when it is told to.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = WebSocketFrame

        var reads = 0
        var written: [WebSocketFrame] = []
        var promises: [EventLoopPromise<Void>] = []

        func read(context: ChannelHandlerContext) { reads += 1 }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            written.append(unwrapOutboundIn(data))
            if let promise { promises.append(promise) }
        }
    }

    private let channel = EmbeddedChannel()
    private let socket = Socket()
    private let handler: WebSocketHandler
    private let closure: EventLoopFuture<WebSocketClosure>

    init() throws {
        var options = WebSocketOptions()
        options.pingInterval = .seconds(20)
        options.pongTimeout = .seconds(10)
        options.closeTimeout = .seconds(5)
        let promise = channel.embeddedEventLoop.makePromise(of: WebSocketClosure.self)
        closure = promise.futureResult
        handler = WebSocketHandler(options, closure: promise)
        try channel.pipeline.syncOperations.addHandlers(socket, handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func receive(_ opcode: WebSocketOpcode, _ text: String = "") throws {
        try channel.writeInbound(WebSocketFrame(fin: true, opcode: opcode, data: ByteBuffer(string: text)))
    }

    private func advance(_ seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    }

    private func end() throws {
        _ = try? channel.finish()
    }

    private var opcodes: [WebSocketOpcode] { socket.written.map(\.opcode) }

    @Test func everyFrameIsMaskedWithAnotherKey() throws {
        for _ in 0..<50 {
            handler.send(.text, ByteBuffer(string: "x"), channel.embeddedEventLoop.makePromise())
        }
        let keys = Set(socket.written.compactMap { $0.maskKey.map(Array.init) })
        #expect(keys.count > 45)
        #expect(socket.written.allSatisfy { $0.maskKey != nil })
        for promise in socket.promises { promise.succeed() }
        try end()
    }

    @Test func pingsAreSentAtTheIntervalAfterEachAnswer() throws {
        advance(19)
        #expect(opcodes.isEmpty)
        advance(1)
        #expect(opcodes == [.ping])
        advance(9)
        try receive(.pong)
        advance(19)
        #expect(opcodes == [.ping])
        advance(1)
        #expect(opcodes == [.ping, .ping])
        advance(10)
        #expect(channel.isActive == false)
        #expect(throws: WebSocketError.self) { try closure.wait() }
        try end()
    }

    /// A server that floods with Ping frames and does not read gets one Pong frame, and the latest after that.
    @Test func pingsAreAnsweredOneAtATime() throws {
        for number in 0..<1_000 { try receive(.ping, String(number)) }
        #expect(opcodes == [.pong])
        socket.promises.removeFirst().succeed()
        #expect(opcodes == [.pong, .pong])
        #expect(socket.written.last.map { String(buffer: $0.data) } == "999")
        socket.promises.removeFirst().succeed()
        #expect(socket.written.count == 2)
        try end()
    }

    @Test func readingStopsWhileMessagesWait() async throws {
        var reads = socket.reads
        for _ in 0..<255 {
            try receive(.text, "x")
            #expect(socket.reads == reads + 1)
            reads = socket.reads
        }
        try receive(.text, "x")
        #expect(socket.reads == reads)
        // Answers to Ping frames could not be received.
        advance(60)
        #expect(opcodes.isEmpty)
        #expect(channel.isActive)
        for _ in 0..<256 { #expect(try await handler.queue.next() == .text("x")) }
        channel.embeddedEventLoop.run()
        #expect(socket.reads == reads + 1)
        advance(20)
        #expect(opcodes == [.ping])
        try end()
    }

    @Test func readingStopsAtTheLimitOfBytes() throws {
        let reads = socket.reads
        try receive(.text, String(repeating: "x", count: 256 * 1024))
        #expect(socket.reads == reads)
        try end()
    }

    @Test func closingReadsOnAndIsBounded() throws {
        try receive(.text, String(repeating: "x", count: 256 * 1024))
        let reads = socket.reads
        handler.close(.normalClosure, reason: "bye")
        #expect(opcodes == [.connectionClose])
        #expect(socket.reads == reads + 1)
        handler.close(.normalClosure, reason: "again")
        #expect(opcodes == [.connectionClose])
        advance(4)
        #expect(channel.isActive)
        advance(1)
        #expect(channel.isActive == false)
        #expect(throws: WebSocketError.self) { try closure.wait() }
        try end()
    }

    @Test func aServerThatKeepsTheConnectionAfterTheHandshakeIsLeft() throws {
        handler.close(.normalClosure, reason: "")
        try receive(.connectionClose, "\u{3}\u{7f}")
        #expect(channel.isActive)
        advance(5)
        #expect(channel.isActive == false)
        try end()
    }

    @Test func messagesAfterTheEndAreNotSent() throws {
        try receive(.connectionClose)
        let promise = channel.embeddedEventLoop.makePromise(of: Void.self)
        handler.send(.text, ByteBuffer(string: "late"), promise)
        #expect(throws: WebSocketError.self) { try promise.futureResult.wait() }
        #expect(opcodes == [.connectionClose])
        try end()
    }
}
