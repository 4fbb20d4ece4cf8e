internal import LinnetTransport
internal import NIOCore

/// The end of a connection's pipeline: puts what arrives into the queue, and holds reading back while that is full.
final class InboundHandler<Part: Sendable>: ChannelDuplexHandler {
    typealias InboundIn = Part
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let queue: InboundQueue<Part>
    private let connection: ServerConnection
    private let onPart: (Part) -> Void
    private var context: ChannelHandlerContext?

    init(_ queue: InboundQueue<Part>, connection: ServerConnection, onPart: @escaping (Part) -> Void) {
        self.queue = queue
        self.connection = connection
        self.onPart = onPart
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        queue.finish()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        onPart(part)
        queue.push(part)
    }

    func read(context: ChannelHandlerContext) {
        if queue.mayRead() { context.read() }
    }

    func resumeReading() {
        context?.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        queue.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        queue.finish(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let completed = event as? TLSHandshakeCompleted {
            connection.tlsSession = .init(version: completed.version, serverName: completed.serverName)
        }
        context.fireUserInboundEventTriggered(event)
    }
}
