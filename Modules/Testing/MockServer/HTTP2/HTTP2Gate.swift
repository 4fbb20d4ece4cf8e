internal import NIOCore

/// Stands under the HTTP/2 codec: lets its bytes by, sends some that the codec knows nothing of, and in the end drops
/// what still comes.
///
/// GOAWAY goes out here, so that the codec's own state does not decide what becomes of later streams.
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
        // A channel that closes while it is read, by a reset or by close_notify behind the last bytes, gets no
        // `channelReadComplete`. The codec lists the streams it has read from until it gets one, and a stream in that list
        // is never released.
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

    /// Sends bytes, between two frames of the codec.
    func send(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        guard let context, !isShut else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(bytes)), promise: promise)
    }

    /// Ends the sending side in order, and reads on until the client has closed: with bytes unread, TCP would make a
    /// reset of the end, and what the client has not read yet would be lost to it.
    func shut() {
        guard let context, !isShut else { return }
        isShut = true
        context.close(mode: .output, promise: nil)
    }
}

extension ByteBuffer {
    /// A GOAWAY frame (RFC 9113, 6.8).
    static func goAway(lastStreamID: Int, errorCode: MockServer.HTTP2ErrorCode) -> ByteBuffer {
        var frame = ByteBuffer()
        frame.writeBytes([0, 0, 8, 7, 0])
        frame.writeInteger(UInt32(0))
        frame.writeInteger(UInt32(truncatingIfNeeded: lastStreamID))
        frame.writeInteger(errorCode.rawValue)
        return frame
    }
}
