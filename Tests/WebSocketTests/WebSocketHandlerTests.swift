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
        private var context: ChannelHandlerContext?

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        /// More bytes wait for the socket.
        func buffer(_ bytes: Int) {
            context?.write(NIOAny(ByteBuffer(repeating: 0, count: bytes)), promise: nil)
        }

        func read(context: ChannelHandlerContext) { reads += 1 }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            written.append(unwrapOutboundIn(data))
            if let promise { promises.append(promise) }
        }
    }

    private let channel = EmbeddedChannel()
    private let socket = Socket()
    private let handler: WebSocketHandler
    private let closure = Outcome<WebSocket.Closure>()

    init() throws {
        var options = WebSocket.Options()
        options.pingInterval = .seconds(20)
        options.pongTimeout = .seconds(10)
        options.closeTimeout = .seconds(5)
        handler = WebSocketHandler(options, closure: closure)
        try channel.pipeline.syncOperations.addHandlers(socket, handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func receive(_ opcode: WebSocketOpcode, _ text: String = "") throws {
        try channel.writeInbound(WebSocketFrame(fin: true, opcode: opcode, data: ByteBuffer(string: text)).bytes)
    }

    private func advance(_ seconds: Int64) {
        channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
    }

    /// The socket accepts the written bytes.
    private func accept() {
        while !socket.promises.isEmpty { socket.promises.removeFirst().succeed() }
    }

    private var failure: WebSocketError.Code? {
        if case .failure(let error)? = closure.result { error.code } else { nil }
    }

    private func end() throws {
        _ = try? channel.finish()
    }

    private var opcodes: [WebSocketOpcode] { socket.written.map(\.opcode) }

    @Test func everyFrameIsMaskedWithAnotherKey() throws {
        for _ in 0..<50 { handler.send(.text, ByteBuffer(string: "x"), Completion()) }
        let keys = Set(socket.written.compactMap { $0.maskKey.map(Array.init) })
        #expect(keys.count > 45)
        #expect(socket.written.allSatisfy { $0.maskKey != nil })
        accept()
        try end()
    }

    /// Section 7.1.7.
    @Test func bytesAfterAnInvalidFrameAreDropped() throws {
        let channel = EmbeddedChannel()
        var options = WebSocket.Options()
        options.closeTimeout = .seconds(5)
        let closure = Outcome<WebSocket.Closure>()
        let reader = WebSocketHandler(options, closure: closure)
        try channel.pipeline.syncOperations.addHandler(reader)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        // A Ping frame with a cleared FIN bit.
        try channel.writeInbound(ByteBuffer(bytes: [0x09, 0x00]))
        #expect(try channel.readOutbound(as: WebSocketFrame.self)?.opcode == .connectionClose)
        try channel.writeInbound(ByteBuffer(bytes: [0x81, 0x00]))
        #expect(channel.isActive)
        #expect(try channel.readOutbound(as: WebSocketFrame.self) == nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        #expect(!channel.isActive)
        _ = try? channel.finish(acceptAlreadyClosed: true)
        try end()
    }

    @Test func pingsAreSentAtTheIntervalAfterEachAnswer() throws {
        advance(19)
        #expect(opcodes.isEmpty)
        advance(1)
        #expect(opcodes == [.ping])
        accept()
        advance(9)
        try receive(.pong)
        advance(19)
        #expect(opcodes == [.ping])
        advance(1)
        #expect(opcodes == [.ping, .ping])
        accept()
        advance(9)
        #expect(channel.isActive)
        advance(1)
        #expect(channel.isActive == false)
        #expect(failure == .pongTimeout)
        try end()
    }

    /// Behind a large message. The socket accepts a part of it now and then.
    @Test func aPingThatTheSocketHasNotAcceptedHasNoDeadlineWhileItMoves() throws {
        advance(20)
        #expect(opcodes == [.ping])
        for _ in 0..<100 {
            advance(9)
            socket.buffer(1)
        }
        #expect(channel.isActive)
        accept()
        advance(9)
        #expect(channel.isActive)
        advance(1)
        #expect(failure == .pongTimeout)
        try end()
    }

    /// The network is gone, or the server does not read.
    @Test func aPingThatTheSocketDoesNotAcceptEndsTheConnection() throws {
        advance(20)
        #expect(opcodes == [.ping])
        try receive(.pong)
        advance(9)
        #expect(channel.isActive)
        advance(10)
        #expect(failure == .pongTimeout)
        #expect(!channel.isActive)
        accept()
        try end()
    }

    /// A part of a long frame is no frame, but the server is there.
    @Test func receivedBytesMoveTheDeadline() throws {
        advance(20)
        accept()
        for _ in 0..<5 {
            advance(9)
            channel.pipeline.fireChannelReadComplete()
        }
        #expect(channel.isActive)
        advance(20)
        #expect(failure == .pongTimeout)
        try end()
    }

    /// A server that floods with Ping frames and does not read gets one Pong frame, and the latest after that.
    @Test func pingsAreAnsweredOneAtATime() throws {
        for number in 0..<1_000 { try receive(.ping, String(number)) }
        #expect(opcodes == [.pong])
        accept()
        #expect(opcodes == [.pong, .pong])
        #expect(socket.written.last.map { String(buffer: $0.data) } == "999")
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
        accept()
        try end()
    }

    /// The frames of a read are kept in their received form, so that compressed ones take no more memory than their
    /// compressed size.
    @Test func framesAreHeldWhileTheQueueIsFull() async throws {
        for number in 0..<1_000 { channel.pipeline.syncOperations.fireChannelRead(frame(String(number))) }
        channel.pipeline.fireChannelReadComplete()
        let reads = socket.reads
        for number in 0..<1_000 {
            #expect(try await handler.queue.next() == .text(String(number)))
            channel.embeddedEventLoop.run()
        }
        #expect(socket.reads == reads + 1)
        try end()
    }

    private func frame(_ text: String) -> NIOAny {
        NIOAny(WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text)).bytes)
    }

    private func receive(_ frames: [WebSocketFrame]) {
        var bytes = ByteBuffer()
        for frame in frames { bytes.writeImmutableBuffer(frame.bytes) }
        channel.pipeline.syncOperations.fireChannelRead(NIOAny(bytes))
        channel.pipeline.fireChannelReadComplete()
    }

    private func texts(_ count: Int) -> [WebSocketFrame] {
        (0..<count).map { WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: String($0))) }
    }

    private func expectTexts(_ numbers: Range<Int>) async throws {
        for number in numbers { #expect(try await handler.queue.next() == .text(String(number))) }
    }

    private func endOfMessages() async -> WebSocketError.Code? {
        do throws(WebSocketError) {
            while try await handler.queue.next() != nil {}
            return nil
        } catch {
            return error.code
        }
    }

    /// A reader that is behind gets all messages, and then the Close frame.
    @Test func allMessagesBeforeTheEndAreDelivered() async throws {
        let close = WebSocketStateMachine.closePayload(WebSocket.CloseCode(rawValue: 4001), reason: "enough")
        receive(texts(600) + [WebSocketFrame(fin: true, opcode: .connectionClose, data: close)] + texts(1))
        try end()
        #expect(closure.result == nil)
        try await expectTexts(0..<600)
        #expect(try await handler.queue.next() == nil)
        #expect(try await handler.queue.next() == nil)
        let end = try #require(closure.result).get()
        #expect(end == WebSocket.Closure(code: WebSocket.CloseCode(rawValue: 4001), reason: "enough"))
    }

    /// Without a Close frame, with an invalid frame, and with a connection that fails.
    @Test(
        arguments: [
            ([], false, WebSocketError.Code.connectionLost), ([0x83, 0x00], false, .protocolViolation),
            ([0x81, 0x01, 0xFF], false, .invalidText), ([0x81, 0x02, 0x61], true, .connectionLost),
        ] as [([UInt8], Bool, WebSocketError.Code)])
    func allThatCameBeforeAFailureIsDelivered(last: [UInt8], fails: Bool, code: WebSocketError.Code) async throws {
        receive(texts(600))
        channel.pipeline.syncOperations.fireChannelRead(NIOAny(ByteBuffer(bytes: last)))
        if fails { channel.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel) }
        try end()
        try await expectTexts(0..<600)
        #expect(await endOfMessages() == code)
        #expect(failure == code)
        // Reading asks the event loop for more; what nobody runs would keep the channel.
        channel.embeddedEventLoop.run()
    }

    /// Messages that the queue has no room for are not kept for a caller who closes.
    @Test func closingFindsTheEndOfAConnectionThatHasEnded() async throws {
        receive(texts(600) + [WebSocketFrame(fin: true, opcode: .connectionClose, data: ByteBuffer())])
        try end()
        try await expectTexts(0..<10)
        handler.queue.settle()
        #expect(try closure.result?.get().code == .noStatusReceived)
        try await expectTexts(10..<256)
        #expect(await endOfMessages() == nil)
    }

    /// The connection ends after the caller has asked for its end.
    @Test func theEndOfAConnectionThatIsClosedDoesNotWaitForAReader() async throws {
        receive(texts(600))
        handler.queue.settle()
        try end()
        #expect(failure == .connectionLost)
        try await expectTexts(0..<256)
        // The others were dropped.
        let error = await #expect(throws: WebSocketError.self) { try await handler.queue.next() }
        #expect(error?.code == .connectionLost)
    }

    /// A server that goes on sending after our Close frame.
    @Test func messagesAreDroppedAfterOurCloseFrameOnceTheQueueIsFull() async throws {
        handler.close(.normalClosure, reason: "")
        for number in 0..<1_000 { try receive(.text, String(number)) }
        try receive(.connectionClose)
        for number in 0..<256 { #expect(try await handler.queue.next() == .text(String(number))) }
        #expect(try await handler.queue.next() == nil)
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
        #expect(failure == .connectionLost)
        try end()
    }

    @Test func theConnectionOfAServerThatKeepsItIsClosed() throws {
        handler.close(.normalClosure, reason: "")
        try receive(.connectionClose)
        #expect(channel.isActive)
        advance(5)
        #expect(channel.isActive == false)
        try end()
    }

    @Test func messagesAfterTheEndAreNotSent() throws {
        try receive(.connectionClose)
        let completion = Completion()
        handler.send(.text, ByteBuffer(string: "late"), completion)
        guard case .failure(let error)? = completion.outcome.result else {
            Issue.record("no failure")
            return
        }
        #expect(error.code == .closed)
        #expect(opcodes == [.connectionClose])
        try end()
    }
}
