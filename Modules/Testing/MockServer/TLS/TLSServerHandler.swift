package import NIOCore

/// The events that a ``TLSServerHandler`` fires inbound.
package enum TLSServerEvent: Sendable {
    /// The handshake is complete.
    case handshakeCompleted(TLSServerHandshake)
    /// The client closed the connection without close_notify: its last data may be truncated (RFC 8446, 6.1).
    case truncated
}

/// A channel handler for the server side of TLS, with ciphertext below and plaintext above.
///
/// It shares no code with the client's handler, so that a defect in one is not hidden by the same defect in the other.
package final class TLSServerHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum Phase {
        /// The channel is not active yet.
        case idle
        case handshaking
        case open
        /// close_notify was sent; the client may still send.
        case halfClosed
        case closed
    }

    private let connection: TLSServerConnection
    private var phase = Phase.idle
    /// Writes before the end of the handshake.
    private var earlyWrites: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []

    /// Creates a handler for one connection.
    ///
    /// - Throws: ``TestingError`` with ``TestingError/Code/invalidConfiguration`` if OpenSSL has no memory.
    package init(_ context: TLSServerContext) throws {
        connection = try TLSServerConnection(context)
    }

    // MARK: The channel

    package func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { phase = .handshaking }
    }

    package func channelActive(context: ChannelHandlerContext) {
        if phase == .idle { phase = .handshaking }
        context.fireChannelActive()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        if phase == .open || phase == .halfClosed { context.fireUserInboundEventTriggered(TLSServerEvent.truncated) }
        end()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard phase == .handshaking else { return context.fireErrorCaught(error) }
        context.close(promise: nil)
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input else { return context.close(mode: mode, promise: promise) }
        let saysCloseNotify = phase == .open
        // Before anything is sent: an error of the socket closes the channel at once.
        if mode == .all { end() } else if saysCloseNotify { phase = .halfClosed }
        if saysCloseNotify {
            connection.shutdown()
            sendCiphertext(context)
        }
        context.close(mode: mode, promise: promise)
    }

    private func end() {
        phase = .closed
        let writes = earlyWrites
        earlyWrites = []
        for write in writes { write.promise?.fail(ChannelError.ioOnClosedChannel) }
    }

    // MARK: Receiving

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase != .closed else { return }
        connection.feed(unwrapInboundIn(data))
        if phase == .handshaking { advanceHandshake(context) }
        if phase == .open || phase == .halfClosed { deliver(context) }
    }

    private func advanceHandshake(_ context: ChannelHandlerContext) {
        let step = connection.handshake()
        sendCiphertext(context)
        switch step {
        case .needsBytes:
            break
        case .failed:
            end()
            context.close(promise: nil)
        case .complete:
            phase = .open
            context.fireUserInboundEventTriggered(TLSServerEvent.handshakeCompleted(connection.session))
            let writes = earlyWrites
            earlyWrites = []
            for (bytes, promise) in writes { write(bytes, context, promise) }
            context.flush()
        }
    }

    private func deliver(_ context: ChannelHandlerContext) {
        var plaintext = ByteBuffer()
        let step = connection.read(into: &plaintext)
        // Reading can cause output, for example for a key update.
        sendCiphertext(context)
        if plaintext.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(plaintext)) }
        guard phase == .open || phase == .halfClosed else { return }
        switch step {
        case .needsBytes:
            break
        case .closed:
            // Answer with close_notify (RFC 8446, 6.1).
            close(context: context, mode: .all, promise: nil)
        case .failed(let reason):
            end()
            context.fireErrorCaught(
                TestingError(.connectionClosed, "TLS failed on a connection that a client had opened: \(reason)."))
            context.close(promise: nil)
        }
    }

    // MARK: Sending

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = unwrapOutboundIn(data)
        switch phase {
        case .idle, .handshaking: earlyWrites.append((bytes, promise))
        case .open: write(bytes, context, promise)
        case .halfClosed, .closed: promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    private func write(_ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        guard phase == .open, connection.write(bytes) else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.write(wrapOutboundOut(connection.takeCiphertext() ?? ByteBuffer()), promise: promise)
    }

    private func sendCiphertext(_ context: ChannelHandlerContext) {
        guard let bytes = connection.takeCiphertext() else { return }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }
}
