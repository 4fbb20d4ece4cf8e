internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Stands between the socket and TLS, to do what TLS must not soften: hold a fresh connection still, close without
/// close_notify, reset.
final class WireHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var context: ChannelHandlerContext?
    /// While held, nobody above hears that the channel is open, and nothing is read.
    private var isHeld: Bool
    private var heldActive = false
    private var heldRead = false
    /// Once frozen, nothing gets through either way, and who writes waits.
    private var isFrozen = false
    private var frozenPromises: [EventLoopPromise<Void>] = []

    init(isHeld: Bool) {
        self.isHeld = isHeld
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        for promise in frozenPromises { promise.fail(ChannelError.ioOnClosedChannel) }
        frozenPromises = []
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if !isFrozen { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isFrozen else { return context.write(data, promise: promise) }
        if let promise { frozenPromises.append(promise) }
    }

    func channelActive(context: ChannelHandlerContext) {
        heldActive = isHeld
        if !isHeld { context.fireChannelActive() }
    }

    func read(context: ChannelHandlerContext) {
        heldRead = isHeld
        if !isHeld { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset by the client: the channel is closed by NIO, and that is all a server needs to know.
    }

    /// Lets a held connection begin.
    func release() {
        guard isHeld, let context else { return }
        isHeld = false
        if heldActive { context.fireChannelActive() }
        if heldRead { context.read() }
    }

    /// Lets nothing through any more: what comes is thrown away, so that the client's end is still seen.
    func freeze() {
        isFrozen = true
    }

    /// FIN, without a word from TLS.
    func close() {
        context?.close(promise: nil)
    }

    /// RST: with a linger time of 0, close throws away what is unsent (socket(7), SO_LINGER).
    func reset() {
        guard let context else { return }
        guard let socket = context.channel as? any SocketOptionProvider else {
            return context.close(promise: nil)
        }
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }
}
