internal import HTTPTypes
internal import LinnetTransport
internal import NIOCore
internal import NIOWebSocket
internal import Synchronization

/// The owner of a WebSocket's channel, with access to its event loop. Releasing it closes the channel.
final class WebSocketConnection: Sendable {
    let subprotocol: String?
    let queue: MessageQueue
    private let handler: NIOLoopBound<WebSocketHandler>
    private let channel: any Channel
    private let closure: EventLoopFuture<WebSocketClosure>
    /// Compresses messages in the task that sends, one at a time and in the order in which they are sent; nil if messages are not
    /// compressed.
    private let deflater: Mutex<MessageDeflater?>

    /// Adds the handlers to a channel whose server has switched to the protocol. Called on the event loop.
    init(_ channel: any Channel, _ options: WebSocketOptions, _ agreement: WebSocketHandshake.Agreement) throws {
        self.channel = channel
        subprotocol = agreement.subprotocol
        let compression = agreement.compression
        deflater = Mutex(compression.flatMap { $0.canDeflate ? MessageDeflater($0) : nil })
        let promise = channel.eventLoop.makePromise(of: WebSocketClosure.self)
        let handler = WebSocketHandler(options, compression, closure: promise)
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        queue = handler.queue
        closure = promise.futureResult
        do {
            try channel.pipeline.syncOperations.addHandlers(
                ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: handler.maximumFrameSize)),
                WebSocketFrameEncoder(), handler)
        } catch {
            promise.fail(error)
            throw error
        }
    }

    deinit {
        guard channel.isActive else { return }
        let handler = handler
        handler.eventLoop.execute { handler.value.close(.goingAway, reason: "") }
    }

    /// The protocol for a request; its owner is a `WebSocketConnection`.
    static func upgrade(_ handshake: WebSocketHandshake, _ options: WebSocketOptions) -> ProtocolUpgrade {
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

    /// Sends a message. The future succeeds when the socket has accepted all of it.
    func send(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) -> EventLoopFuture<Void> {
        let (handler, promise) = (handler, channel.eventLoop.makePromise(of: Void.self))
        deflater.withLock { deflater in
            let message = deflater?.deflate(payload) ?? payload
            let isCompressed = deflater != nil
            handler.eventLoop.execute {
                handler.value.send(opcode, message, isCompressed: isCompressed, promise)
            }
        }
        return promise.futureResult
    }

    /// Starts the closing handshake. The future succeeds with the server's Close frame.
    func close(_ code: WebSocketCloseCode, reason: String) -> EventLoopFuture<WebSocketClosure> {
        let handler = handler
        handler.eventLoop.execute { handler.value.close(code, reason: reason) }
        return closure
    }
}
