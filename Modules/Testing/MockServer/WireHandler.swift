internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A handler between the socket and TLS for effects that bypass TLS: holding a new connection, closing without
/// close_notify, and resetting.
final class WireHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var context: ChannelHandlerContext?
    /// While held, the handlers above do not see that the channel is active, and nothing is read.
    private var isHeld: Bool
    private var heldActive = false
    private var heldRead = false
    /// When frozen, nothing is forwarded in either direction, and writes stay pending.
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
        // Caused by a reset of the client, after which NIO closes the channel.
    }

    /// Activates a held connection.
    func release() {
        guard isHeld, let context else { return }
        isHeld = false
        if heldActive { context.fireChannelActive() }
        if heldRead { context.read() }
    }

    /// Stops forwarding. Received bytes are discarded, so that the end of the connection is still detected.
    func freeze() {
        isFrozen = true
    }

    /// Closes the connection with FIN, without close_notify.
    func close() {
        context?.close(promise: nil)
    }

    /// Resets the connection: with a linger time of 0, closing sends RST (socket(7), SO_LINGER).
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
