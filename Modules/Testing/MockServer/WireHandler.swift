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
    private var heldBytes = CircularBuffer<NIOAny>()
    /// Whether garbage is sent once the channel is active. A fault at `.connect` can come before.
    private var isGarbageDue = false
    /// When frozen, nothing is forwarded in either direction, and writes stay pending.
    private var isFrozen = false
    private var frozenPromises: [EventLoopPromise<Void>] = []
    /// Succeeds when the first bytes arrive, which are held until ``releaseHello()``; nil if they are not held.
    private var hello: EventLoopPromise<Void>?

    /// - Parameters:
    ///   - isHeld: Whether the connection is held until ``release()``.
    ///   - hello: Succeeds when the client's first bytes arrive, which are held until ``releaseHello()``; fails if the
    ///     connection closes before. Nil does not hold them.
    init(isHeld: Bool, hello: EventLoopPromise<Void>?) {
        self.isHeld = isHeld
        self.hello = hello
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        for promise in frozenPromises { promise.fail(ChannelError.ioOnClosedChannel) }
        frozenPromises = []
        heldBytes.removeAll()
        hello.take()?.fail(ChannelError.ioOnClosedChannel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isHeld || hello != nil {
            // The channel reads also while it is held, to notice its end.
            heldBytes.append(data)
            hello?.succeed()
        } else if !isFrozen {
            context.fireChannelRead(data)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isFrozen else { return context.write(data, promise: promise) }
        if let promise { frozenPromises.append(promise) }
    }

    func channelActive(context: ChannelHandlerContext) {
        heldActive = isHeld
        if !isHeld { context.fireChannelActive() }
        if isGarbageDue { sendGarbage() }
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
        if hello == nil { passHeldBytes(context) }
    }

    /// Passes on the client's first bytes.
    func releaseHello() {
        guard hello.take() != nil, let context else { return }
        passHeldBytes(context)
    }

    private func passHeldBytes(_ context: ChannelHandlerContext) {
        guard !heldBytes.isEmpty else { return }
        while let data = heldBytes.popFirst() { context.fireChannelRead(data) }
        context.fireChannelReadComplete()
    }

    /// Sends garbage, then FIN. The first bytes are no status line, no chunk's size, no TLS record, and the head of an
    /// HTTP/2 frame that is too long.
    func sendGarbage() {
        guard let context else { return }
        isGarbageDue = !context.channel.isActive
        if isGarbageDue { return }
        let bytes: [UInt8] = [0x00, 0xFF, 0x67] + Array("\u{0}\u{1B}garbage\r\n\r\ngarbage\r\n\r\n".utf8)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        // To close with unread bytes would send RST, upon which a client may lose what it has received. It closes.
        freeze()
        context.close(mode: .output, promise: nil)
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
