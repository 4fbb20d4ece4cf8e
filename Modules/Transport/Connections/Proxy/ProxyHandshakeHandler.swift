internal import NIOCore

/// Runs a ``ProxyHandshake`` on a channel, and leaves the pipeline.
///
/// When the promise succeeds, the handlers of the origin's connection are added behind this one, which then passes on
/// the bytes that have already arrived for them.
final class ProxyHandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var handshake: any ProxyHandshake
    private let proxy: Proxy
    private let end: NIODeadline?
    private var promise: EventLoopPromise<Void>?
    private var timer: Scheduled<Void>?

    init(
        _ handshake: any ProxyHandshake, with proxy: Proxy, until end: NIODeadline?, promise: EventLoopPromise<Void>
    ) {
        self.handshake = handshake
        self.proxy = proxy
        self.end = end
        self.promise = promise
    }

    func handlerAdded(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return fail(.closed, context) }
        timer = end.map { end in
            context.eventLoop.assumeIsolated().scheduleTask(deadline: end) { self.timedOut(context) }
        }
        context.writeAndFlush(wrapOutboundOut(handshake.start()), promise: nil)
        context.read()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        takePromise()?.fail(TransportError(ProxyFailure.closed, of: proxy))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard promise != nil else { return context.fireChannelRead(data) }
        do {
            switch try handshake.received(unwrapInboundIn(data)) {
            case .needsBytes: break
            case .send(let bytes): context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
            case .open(let surplus): open(surplus, context)
            }
        } catch {
            fail(error, context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if promise != nil { context.read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(handshake.failureAtEnd, context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let promise = takePromise() else { return context.fireErrorCaught(error) }
        promise.fail(TransportError(TransportError(translating: error), reaching: proxy))
        context.close(promise: nil)
    }

    private func open(_ surplus: ByteBuffer, _ context: ChannelHandlerContext) {
        // First: its callbacks add the origin's handlers, which the surplus is for.
        takePromise()?.succeed()
        if surplus.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(surplus)) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func timedOut(_ context: ChannelHandlerContext) {
        // A refusal with an endless page is still a refusal.
        let failure = handshake.failureAtEnd
        guard failure == .closed, let promise = takePromise() else { return fail(failure, context) }
        promise.fail(TransportError.proxyTimeout(proxy))
        context.close(promise: nil)
    }

    private func fail(_ failure: ProxyFailure, _ context: ChannelHandlerContext) {
        guard let promise = takePromise() else { return }
        promise.fail(ProxyHandshakeError(failure: failure))
        context.close(promise: nil)
    }

    /// Takes the promise, once.
    private func takePromise() -> EventLoopPromise<Void>? {
        timer?.cancel()
        timer = nil
        defer { promise = nil }
        return promise
    }
}

/// The failure of a handshake, which may be a challenge that can be answered.
struct ProxyHandshakeError: Error {
    let failure: ProxyFailure
}
