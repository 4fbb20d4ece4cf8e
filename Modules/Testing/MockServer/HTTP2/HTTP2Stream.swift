internal import HTTPTypes
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// A stream of an HTTP/2 connection, as the task that serves it sees it.
final class HTTP2Stream: ExchangeLink {
    let id: Int
    /// The request's number on its connection.
    let exchangeIndex: Int
    let channel: any Channel
    let inbound: InboundQueue<RequestPart>
    private let connection: ServerConnection
    private let handler: NIOLoopBound<HTTP2ConnectionHandler>

    init(
        id: Int, exchangeIndex: Int, channel: any Channel, inbound: InboundQueue<RequestPart>,
        connection: ServerConnection, handler: NIOLoopBound<HTTP2ConnectionHandler>
    ) {
        self.id = id
        self.exchangeIndex = exchangeIndex
        self.channel = channel
        self.inbound = inbound
        self.connection = connection
        self.handler = handler
    }

    var clock: any Clock<Duration> { connection.clock }

    /// Sends frames, and returns when the client's windows and the socket have taken them.
    ///
    /// The end of an exchange is noted in the same turn of the event loop in which its last frame is written.
    func write(_ frames: [HTTP2Frame.FramePayload], endsExchange: Bool = false) async throws {
        try await channel.eventLoop.flatSubmit { [channel, handler, id] in
            var written = channel.eventLoop.makeSucceededVoidFuture()
            for (index, frame) in frames.enumerated() {
                if index == frames.count - 1 {
                    written = channel.writeAndFlush(frame)
                } else {
                    channel.write(frame, promise: nil)
                }
            }
            return written.map { if endsExchange { handler.value.answered(id) } }
        }.get()
    }

    func sendContinue() async throws {
        try await write([.headers(.init(headers: HPACKHeaders(HTTPResponse(status: .continue))))])
    }

    func perform(_ effect: MockServer.Fault.Effect) async throws {
        switch effect.action {
        case .resetStream(let code): await reset(code)
        case .goAway(let code): return await goAway(code)
        case .halfClose: await shut()
        case .stall: break
        case .delay, .close, .reset, .truncate, .stallConnection: return try await connection.perform(effect)
        }
        try? await channel.closeFuture.get()
        throw ExchangeEnded()
    }

    /// Ends the stream with RST_STREAM, if it has not ended.
    func reset(_ code: MockServer.HTTP2ErrorCode) async {
        try? await write([.rstStream(HTTP2ErrorCode(networkCode: Int(code.rawValue)))])
    }

    /// Says that the connection takes no more requests.
    func goAway(_ code: MockServer.HTTP2ErrorCode) async {
        await onHandler { $0.goAway(code) }
    }

    /// Ends the connection's sending side.
    func shut() async {
        await onHandler { $0.shut() }
    }

    /// Sends bytes on the connection that are no frame of the codec's.
    func writeRaw(_ bytes: ByteBuffer) async throws {
        try await channel.eventLoop.flatSubmit { [channel, handler] in
            let promise = channel.eventLoop.makePromise(of: Void.self)
            handler.value.send(bytes, promise: promise)
            return promise.futureResult
        }.get()
    }

    private func onHandler(_ action: @escaping @Sendable (HTTP2ConnectionHandler) -> Void) async {
        try? await channel.eventLoop.submit { [handler] in action(handler.value) }.get()
    }
}
