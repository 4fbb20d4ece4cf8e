internal import NIOCore
internal import NIOHTTP2

/// The last handler of an HTTP/2 connection: accepts or refuses its streams, and ends the connection.
///
/// Confined to the connection's event loop.
final class HTTP2ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    /// The streams to serve.
    let streams = InboundQueue<HTTP2Stream>()
    private let connection: ServerConnection
    private let gate: HTTP2Gate
    private let log: RequestLog
    private let errorCode: MockServer.HTTP2ErrorCode
    private var machine: HTTP2StreamMachine
    /// The open streams. The codec does not close a stream that is being reset when the connection ends.
    private var channels: [Int: any Channel] = [:]

    init(_ connection: ServerConnection, gate: HTTP2Gate, responder: Responder) {
        self.connection = connection
        self.gate = gate
        log = responder.log
        errorCode = responder.configuration.http2.goAway?.errorCode ?? .noError
        machine = HTTP2StreamMachine(responder.configuration)
    }

    // MARK: Streams

    /// Creates the pipeline of a stream before its first frame is read.
    func accept(_ channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        let id = Int(try options.getOption(HTTP2StreamChannelOptions.streamID))
        channels[id] = channel
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.channels[id] = nil }
        switch machine.arrive(id) {
        case .refused:
            try channel.pipeline.syncOperations.addHandler(UnservedStream(resets: true))
        case .ignored:
            try channel.pipeline.syncOperations.addHandler(UnservedStream(resets: false))
        case .served(let index):
            try serve(channel, id, index)
            if machine.isGoAwayDue { goAway(errorCode) }
        }
    }

    private func serve(_ channel: any Channel, _ id: Int, _ index: Int) throws {
        let parts = HTTP2RequestParts(streamID: id) { [log, connection] code in
            log.recordReset(.init(connectionIndex: connection.index, streamID: id, errorCode: code))
        }
        try channel.pipeline.syncOperations.addHandler(parts)
        let inbound = try InboundHandler.addQueue(of: RequestPart.self, to: channel, connection)
        let handler = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.closeFuture.assumeIsolated().whenComplete { _ in self.closed(id) }
        streams.push(
            HTTP2Stream(
                id: id, exchangeIndex: index, channel: channel, inbound: inbound, connection: connection,
                handler: handler))
    }

    /// Called when the response on a stream was sent.
    func answered(_ id: Int) {
        machine.answered(id)
    }

    private func closed(_ id: Int) {
        machine.closed(id)
        shutIfDone()
    }

    // MARK: The connection's end

    /// Sends GOAWAY unless it was sent before.
    func goAway(_ code: MockServer.HTTP2ErrorCode) {
        guard let lastStreamID = machine.goAway() else { return }
        gate.send(.goAway(lastStreamID: lastStreamID, errorCode: code), promise: nil)
        shutIfDone()
    }

    func goAwayIfIdle() -> Bool {
        guard machine.isIdle else { return false }
        goAway(.noError)
        return true
    }

    /// Sends raw bytes, bypassing the codec.
    func send(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>) {
        gate.send(bytes, promise: promise)
    }

    /// Closes the sending side.
    func shut() {
        gate.shut()
    }

    private func shutIfDone() {
        guard machine.isDone else { return }
        // The frame that ended the stream may not have been flushed yet.
        let gate = NIOLoopBound(gate, eventLoop: connection.channel.eventLoop)
        gate.eventLoop.execute { gate.value.shut() }
    }

    // MARK: Channel events

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Frames of the connection, which the codec has already processed.
    }

    func channelInactive(context: ChannelHandlerContext) {
        streams.finish()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        streams.finish()
        for channel in Array(channels.values) { channel.close(promise: nil) }
        // Breaks the reference cycle between the connection and this handler.
        connection.http2 = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        connection.note(event)
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is NIOHTTP2Errors.StreamError, is NIOHTTP2Errors.NoSuchStream:
            // Caused by a reset of ours, or by a frame that arrived after a reset.
            return
        case is NIOHTTP2Errors.FlowControlViolation, is NIOHTTP2Errors.BadStreamStateTransition,
            is NIOHTTP2Errors.MissingPseudoHeader, is NIOHTTP2Errors.DuplicatePseudoHeader,
            is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader, is NIOHTTP2Errors.UnknownPseudoHeader,
            is NIOHTTP2Errors.InvalidPseudoHeaders, is NIOHTTP2Errors.EmptyPathHeader,
            is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName, is NIOHTTP2Errors.ForbiddenHeaderField,
            is NIOHTTP2Errors.TrailersWithoutEndStream:
            // The codec has reset the stream.
            log.recordFailure(on: connection.index, "\(error)")
        default:
            // The codec has sent GOAWAY.
            log.recordFailure(on: connection.index, "\(error)")
            gate.shut()
        }
    }
}

private let largestWindow = Int(Int32.max)

/// The codec's limits against floods are raised, so that tests can send many resets and pings.
private let floodLimit = 100_000

extension NIOHTTP2Handler.ConnectionConfiguration {
    /// The codec validates requests. Responses can have a wrong Content-Length deliberately.
    init(_ options: MockServer.Configuration.HTTP2) {
        self.init()
        initialSettings = [
            HTTP2Setting(
                parameter: .maxConcurrentStreams, value: Int(UInt32(clamping: options.maximumConcurrentStreams))),
            HTTP2Setting(parameter: .initialWindowSize, value: options.windowSize),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 64 * 1024),
        ]
        contentLengthValidation = .disabled
        targetWindowSize = max(65_535, options.windowSize)
        maximumConnectionGlitches = floodLimit
        controlFrameRateLimit.maximumCount = floodLimit
    }
}

extension NIOHTTP2Handler.StreamConfiguration {
    init(_ options: MockServer.Configuration.HTTP2) {
        self.init()
        targetWindowSize = options.replenishedWindowSize
        streamResetFrameRateLimit.maximumCount = floodLimit
        streamErrorRateLimit.maximumCount = floodLimit
    }
}

extension MockServer.Configuration.HTTP2 {
    /// The window size, limited to the maximum of the protocol (RFC 9113, 6.9.1).
    fileprivate var windowSize: Int { min(max(1, initialWindowSize), largestWindow) }

    /// The size to which the window of a stream is replenished. The codec adds the difference of the initial window to
    /// the protocol's default for streams that were opened before the client acknowledged the setting, and traps if the
    /// sum is no window size.
    fileprivate var replenishedWindowSize: Int { min(windowSize, largestWindow - (windowSize - 65_535)) }
}
