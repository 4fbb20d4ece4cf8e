internal import HTTPTypes
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Serves the HTTP/2 streams of one connection concurrently.
struct HTTP2Connection: Sendable {
    let connection: ServerConnection
    let streams: InboundQueue<HTTP2Stream>
    let responder: Responder

    func serve() async {
        await withDiscardingTaskGroup { group in
            while let stream = try? await streams.next() {
                group.addTask { await serve(stream) }
            }
        }
        // A stream retains the handler, which retains the queue. A client can open streams until the connection closes.
        streams.abandon()
    }

    /// Serves one request, in a task that is cancelled when its stream closes.
    private func serve(_ stream: HTTP2Stream) async {
        let task = Task { await exchange(on: stream) }
        stream.channel.closeFuture.whenComplete { _ in task.cancel() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func exchange(on stream: HTTP2Stream) async {
        do {
            guard case .head(let head) = try await stream.inbound.next() else { return }
            try await answer(head, on: stream)
        } catch is ExchangeEnded {
            return
        } catch {
            // It is no failure when the client resets the stream or closes the connection.
            guard stream.channel.isActive, !(error is CancellationError) else { return }
            responder.log.recordFailure(on: connection.index, "\(error)")
            await stream.reset(.internalError)
        }
    }

    private func answer(_ head: RequestHead, on stream: HTTP2Stream) async throws {
        let request = RecordedRequest(
            head, connectionIndex: connection.index, exchangeIndex: stream.exchangeIndex,
            session: connection.tlsSession)
        let faults = responder.configuration.faults.faults(for: request)
        let body = RequestBodyReader(
            stream.inbound, link: stream, faults: faults, sendsContinue: responder.sendsContinue(head))
        var response = try await responder.respond(to: request, body, faults, over: stream)
        // Extended CONNECT (RFC 8441) is not supported.
        if response.webSocket != nil { response = .status(.notImplemented) }
        if response.closesConnection && !response.body.isRaw { await stream.goAway(.noError) }
        let sink = HTTP2ResponseSink(response, to: stream, method: request.method)
        try await MockResponseWriter(response, to: sink, over: stream).run()
        if response.body.isRaw && response.closesConnection { await stream.shut() }
        // Without `100 Continue` the client may or may not send the body (RFC 9113, 8.1).
        if head.expectsContinue && !body.hasBegun { return await stream.reset(.noError) }
        try await body.drain()
    }
}

/// A stream of an HTTP/2 connection, for the task that serves it.
final class HTTP2Stream: ExchangeLink {
    let id: Int
    /// The number of the request on its connection.
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

    /// Sends frames, and returns when flow control allowed them and they were written to the socket.
    ///
    /// The exchange ends in the same turn of the event loop in which its last frame is written.
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
        case .delay, .close, .reset, .truncate, .garbage, .stallConnection: return try await connection.perform(effect)
        }
        try? await channel.closeFuture.get()
        throw ExchangeEnded()
    }

    func freeze() async {
        await connection.freeze()
    }

    /// Resets the stream with RST_STREAM unless it has ended.
    func reset(_ code: MockServer.HTTP2ErrorCode) async {
        try? await write([.rstStream(HTTP2ErrorCode(networkCode: Int(code.rawValue)))])
    }

    /// Sends GOAWAY on the connection.
    func goAway(_ code: MockServer.HTTP2ErrorCode) async {
        await onHandler { $0.goAway(code) }
    }

    /// Closes the sending side of the connection.
    func shut() async {
        await onHandler { $0.shut() }
    }

    /// Sends raw bytes on the connection, bypassing the codec.
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
