internal import NIOCore

/// A handler below the HTTP/2 codec: forwards the codec's bytes, sends bytes that bypass it, and drops inbound bytes
/// after the sending side was closed.
///
/// GOAWAY is sent here, so that the codec's own state does not determine how later streams are handled.
final class HTTP2Gate: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var context: ChannelHandlerContext?
    private var isShut = false
    /// Whether bytes were read after the last `channelReadComplete`.
    private var isReading = false

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isShut else { return }
        isReading = true
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        // A channel that closes during a read, by a reset or by close_notify after the last bytes, gets no
        // `channelReadComplete`. The codec keeps a list of the streams it has read from until it gets one, and does not
        // release the streams in that list.
        if isReading {
            isReading = false
            context.fireChannelReadComplete()
        }
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if isShut {
            promise?.fail(ChannelError.outputClosed)
        } else {
            context.write(data, promise: promise)
        }
    }

    /// Sends bytes between two frames of the codec.
    func send(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        guard let context, !isShut else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
    }

    /// Closes the sending side gracefully, and keeps reading until the client closes: with unread bytes TCP would send
    /// a reset, and the client could lose bytes that it has not read yet.
    func shut() {
        guard let context, !isShut else { return }
        isShut = true
        context.close(mode: .output, promise: nil)
    }
}

extension ByteBuffer {
    /// Encodes a GOAWAY frame (RFC 9113, 6.8).
    static func goAway(lastStreamID: Int, errorCode: MockServer.HTTP2ErrorCode) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.writeBytes([0, 0, 8, 7, 0])
        frame.writeInteger(UInt32(0))
        frame.writeInteger(UInt32(truncatingIfNeeded: lastStreamID))
        frame.writeInteger(errorCode.rawValue)
        return frame
    }
}
