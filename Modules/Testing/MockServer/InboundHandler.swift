internal import NIOCore

/// The end of a pipeline, of a connection or of a stream: puts what arrives into the queue, and holds reading back while that is full.
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

    /// Adds a handler to a pipeline's end, and returns its queue.
    static func addQueue(
        of type: Part.Type, to channel: any Channel, _ connection: ServerConnection,
        onPart: @escaping (Part) -> Void = { _ in }
    ) throws -> InboundQueue<Part> {
        let queue = InboundQueue<Part>()
        let handler = InboundHandler(queue, connection: connection, onPart: onPart)
        try channel.pipeline.syncOperations.addHandler(handler)
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        queue.onDemand { bound.eventLoop.execute { bound.value.resumeReading() } }
        return queue
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
        connection.note(event)
        context.fireUserInboundEventTriggered(event)
    }
}
