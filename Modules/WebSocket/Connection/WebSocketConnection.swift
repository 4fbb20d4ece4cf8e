internal import HTTPTypes
internal import LinnetTransport
internal import NIOCore
internal import NIOWebSocket
internal import Synchronization

/// The owner of a WebSocket's channel, with access to its event loop. Releasing it closes the channel.
final class WebSocketConnection: Sendable {
    private static let mostBytesPerRead = 64 * 1024

    let subprotocol: String?
    let queue: MessageQueue
    private let handler: NIOLoopBound<WebSocketHandler>
    private let channel: any Channel
    private let closure = Outcome<WebSocket.Closure>()
    private let compresses: Bool
    /// Compresses messages in the sending task, one at a time and in sending order; nil without compression.
    private let deflater: Mutex<MessageDeflater?>

    /// Adds the handlers to a channel whose server has switched to the protocol. Called on the event loop.
    init(_ channel: any Channel, _ options: WebSocket.Options, _ agreement: WebSocketHandshake.Agreement) throws {
        self.channel = channel
        subprotocol = agreement.subprotocol
        let compression = agreement.compression
        let deflater = compression.flatMap { $0.canDeflate ? MessageDeflater($0) : nil }
        compresses = deflater != nil
        self.deflater = Mutex(deflater)
        let handler = WebSocketHandler(options, compression, closure: closure)
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        queue = handler.queue
        // The bytes of a read stay in memory until the queue has room for their messages, so reads are small.
        try channel.syncOptions?.setOption(
            .recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(minimum: 1_024, initial: 2_048, maximum: Self.mostBytesPerRead))
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try channel.pipeline.syncOperations.addHandlers(WebSocketFrameEncoder(), handler)
    }

    deinit {
        // No reader is left.
        queue.finish(.success(()))
        guard channel.isActive else { return }
        let handler = handler
        handler.eventLoop.execute { handler.value.close(.goingAway, reason: "") }
    }

    /// Returns the protocol for a request; its owner is a `WebSocketConnection`.
    static func upgrade(_ handshake: WebSocketHandshake, _ options: WebSocket.Options) -> ProtocolUpgrade {
        ProtocolUpgrade(to: "websocket") { (channel, head) throws(TransportError) in
            let agreement: WebSocketHandshake.Agreement
            do throws(WebSocketHandshake.Failure) {
                agreement = try handshake.verify(head)
            } catch {
                throw TransportError(.invalidResponse, error.message)
            }
            do {
                return try WebSocketConnection(channel, options, agreement)
            } catch {
                throw TransportError(.connectionClosed, "The connection ended after the handshake.", underlying: error)
            }
        }
    }

    /// Sends a message, and returns when the socket has accepted all of it.
    func send(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) async throws(WebSocketError) {
        guard channel.isActive else { throw .closed }
        try await enqueue(opcode, payload).value()
    }

    /// A task on the event loop writes at once. Compressed messages are written in the order of their compression.
    private func enqueue(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) -> Outcome<Void> {
        let (handler, completion) = (handler, Completion())
        if !compresses, handler.eventLoop.inEventLoop {
            handler.value.send(opcode, payload, completion)
            return completion.outcome
        }
        deflater.withLock { deflater in
            let message = deflater?.deflate(payload) ?? payload
            let isCompressed = deflater != nil
            handler.eventLoop.execute {
                handler.value.send(opcode, message, isCompressed: isCompressed, completion)
            }
        }
        return completion.outcome
    }

    /// Starts the closing handshake, and returns the server's Close frame.
    func close(_ code: WebSocket.CloseCode, reason: String) async throws(WebSocketError) -> WebSocket.Closure {
        let handler = handler
        queue.settle()
        if channel.isActive { handler.eventLoop.execute { handler.value.close(code, reason: reason) } }
        return try await closure.value()
    }
}
