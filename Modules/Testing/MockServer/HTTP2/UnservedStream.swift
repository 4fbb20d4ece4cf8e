internal import NIOCore
internal import NIOHTTP2

/// The only handler of a stream that is not served: refuses it, or lets it be.
final class UnservedStream: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let resets: Bool

    init(resets: Bool) {
        self.resets = resets
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard resets, case .headers = unwrapInboundIn(data) else { return }
        context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The reset, ours or the client's.
    }
}
