internal import HTTPTypes
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Converts the frames of one stream to the parts of its request.
final class HTTP2RequestParts: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = RequestPart

    private let streamID: Int
    private let onReset: (MockServer.HTTP2ErrorCode) -> Void
    private var hasHead = false

    init(streamID: Int, onReset: @escaping (MockServer.HTTP2ErrorCode) -> Void) {
        self.streamID = streamID
        self.onReset = onReset
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let block) where !hasHead:
            hasHead = true
            fire(.head(RequestHead(block.headers, streamID: streamID)), context)
            if block.endStream { fire(.end(nil), context) }
        case .headers(let block):
            fire(.end(HTTPFields(block.headers)), context)
        case .data(let block):
            if case .byteBuffer(let bytes) = block.data, bytes.readableBytes > 0 { fire(.body(bytes), context) }
            if block.endStream { fire(.end(nil), context) }
        case .rstStream(let code):
            onReset(.init(rawValue: UInt32(code.networkCode)))
        default:
            break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After a reset the reader only needs to see the end of the stream.
        if !(error is NIOHTTP2Errors.StreamClosed) { context.fireErrorCaught(error) }
    }

    private func fire(_ part: RequestPart, _ context: ChannelHandlerContext) {
        context.fireChannelRead(wrapInboundOut(part))
    }
}

extension RequestHead {
    /// Converts a field section that the codec has validated.
    fileprivate init(_ headers: HPACKHeaders, streamID: Int) {
        let authority = headers.first(name: ":authority")
        self.init(
            method: headers.first(name: ":method").flatMap { HTTPRequest.Method($0) } ?? .get,
            target: headers.first(name: ":path") ?? authority ?? "", authority: authority,
            headerFields: HTTPFields(headers), httpVersion: "HTTP/2", streamID: streamID)
    }
}

extension HTTPFields {
    /// Converts all fields except the pseudo-header fields.
    fileprivate init(_ headers: HPACKHeaders) {
        self.init()
        for (name, value, _) in headers {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}

/// The only handler of a stream that is not served: refuses or ignores it.
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
        // Caused by a reset, ours or the client's.
    }
}
