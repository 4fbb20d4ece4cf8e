internal import HTTPTypes
internal import LinnetTransport
internal import NIOCore
internal import NIOWebSocket

/// The owner of a WebSocket's channel, with access to its event loop. Releasing it closes the channel.
final class WebSocketConnection: Sendable {
    let subprotocol: String?
    let queue: MessageQueue
    private let handler: NIOLoopBound<WebSocketHandler>
    private let channel: any Channel
    private let closure: EventLoopFuture<WebSocketClosure>

    /// Adds the handlers to a channel whose server has switched to the protocol. Called on the event loop.
    init(_ channel: any Channel, _ options: WebSocketOptions, subprotocol: String?) throws {
        self.channel = channel
        self.subprotocol = subprotocol
        let promise = channel.eventLoop.makePromise(of: WebSocketClosure.self)
        let handler = WebSocketHandler(options, closure: promise)
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        queue = handler.queue
        closure = promise.futureResult
        do {
            try channel.pipeline.syncOperations.addHandlers(
                ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: options.maximumMessageSize)),
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
            let subprotocol: String?
            do throws(WebSocketHandshake.Failure) {
                subprotocol = try handshake.verify(head)
            } catch {
                throw TransportError(.invalidResponse, error.message)
            }
            do {
                return try WebSocketConnection(channel, options, subprotocol: subprotocol)
            } catch {
                throw TransportError(.connectionClosed, "The connection ended after the handshake.", underlying: error)
            }
        }
    }

    /// Sends a message. The future succeeds when the socket has accepted all of it.
    func send(_ opcode: WebSocketOpcode, _ payload: ByteBuffer) -> EventLoopFuture<Void> {
        let (handler, promise) = (handler, channel.eventLoop.makePromise(of: Void.self))
        handler.eventLoop.execute { handler.value.send(opcode, payload, promise) }
        return promise.futureResult
    }

    /// Starts the closing handshake. The future succeeds with the server's Close frame.
    func close(_ code: WebSocketCloseCode, reason: String) -> EventLoopFuture<WebSocketClosure> {
        let handler = handler
        handler.eventLoop.execute { handler.value.close(code, reason: reason) }
        return closure
    }
}
