internal import NIOCore

/// Reads the head of one request, writes a page, and closes the connection. Runs on its event loop.
final class LoopbackHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The largest head of a request in bytes.
    static let headLimit = 16 << 10
    /// The longest time for the browser to close, after its page.
    private static let closingTime = TimeAmount.seconds(1)

    /// The longest time for a request.
    private let requestTime: TimeAmount
    private let answer: (Substring) -> LoopbackPage
    private var head = ByteBuffer()
    private var hasAnswered = false
    private var isWritten = false
    private var isEnding = false
    private var timer: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    /// - Parameters:
    ///   - requestTime: The longest time for a request.
    ///   - answer: Returns the page for a request line.
    init(requestTime: TimeAmount, _ answer: @escaping (Substring) -> LoopbackPage) {
        self.requestTime = requestTime
        self.answer = answer
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        closeAfter(requestTime, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Bytes after the head are read, so that the connection is not reset before the browser has the page.
        guard !hasAnswered else { return }
        var bytes = unwrapInboundIn(data)
        // The end may begin in the last three bytes of before. Searching all of them for each byte would be slow.
        let searched = max(0, head.readableBytes - 3)
        head.writeBuffer(&bytes)
        let view = head.readableBytesView
        if let end = view.dropFirst(searched).firstRange(of: Array("\r\n\r\n".utf8)), end.lowerBound <= Self.headLimit {
            let line = view.prefix { $0 != 0x0D && $0 != 0x0A }
            write(answer(Substring(decoding: line, as: UTF8.self)), context)
        } else if view.count > Self.headLimit {
            write(.tooLarge, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Closes the connection, after its page if there is one.
    func end() {
        isEnding = true
        if let context, !hasAnswered || isWritten { context.close(promise: nil) }
    }

    private func write(_ page: LoopbackPage, _ context: ChannelHandlerContext) {
        hasAnswered = true
        head.clear()
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { _ in self.didWrite() }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: page.response)), promise: promise)
    }

    private func didWrite() {
        isWritten = true
        guard let context else { return }
        guard !isEnding else { return context.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        closeAfter(Self.closingTime, context)
    }

    private func closeAfter(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { self.context?.close(promise: nil) }
    }
}
