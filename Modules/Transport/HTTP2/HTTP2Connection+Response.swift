internal import HTTPTypes
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// The way in: frames, and what the framing tells beside them.
extension HTTP2Connection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let section):
            if let stream = streams[frame.streamID] { received(section.headers, isEnd: section.endStream, stream) }
        case .data(let data):
            if let stream = streams[frame.streamID] { received(data, stream) }
        case .rstStream(let code):
            if let stream = streams[frame.streamID] {
                receivedReset(code, stream)
            } else {
                streamClosed(frame.streamID)
            }
        case .goAway(let last, let code, _):
            receivedGoAway(last, code)
        case .settings(.settings(let settings)):
            received(settings)
        default:
            // Window updates, pings and acknowledgements are the framing's; of the rest nothing concerns a client.
            break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        keepAlive.heard(.now())
        for stream in touched {
            stream.isTouched = false
            guard !stream.exchange.hasEnded else { continue }
            if stream.exchange.awaitsStreamedDelivery {
                stream.exchange.deliverStreamed(by: self, on: context.eventLoop)
            }
            stream.armReadDeadline()
            armWatchdog(stream.exchange.deadlines.next)
        }
        touched.removeAll(keepingCapacity: true)
        flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        connectionEnded()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as NIOHTTP2WindowUpdatedEvent:
            windowChanged(event)
        case is NIOHTTP2StreamCreatedEvent:
            break
        case let event as StreamClosedEvent:
            streamClosed(event)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let translated = TransportError(translatingHTTP2: error)
        if let broken {
            self.broken = nil
            if case .running(let stream) = broken { fail(stream, translated) }
        } else if let error = error as? NIOHTTP2Errors.StreamError {
            if let stream = streams[error.streamID] { fail(stream, translated) }
        } else {
            // The framing has said GOAWAY.
            close(translated, saysGoAway: false)
        }
    }

    /// Resets by the server, and what GOAWAY ends (as cancelled), are dealt with by now: any other reason means that the
    /// framing has found an error.
    private func streamClosed(_ event: StreamClosedEvent) {
        let wasLeft = streamClosed(event.streamID)
        guard let reason = event.reason, reason != .cancel else { return }
        if let stream = streams[event.streamID] {
            broken = .running(stream)
        } else if wasLeft {
            broken = .left
        }
    }

    private func touch(_ stream: HTTP2Stream) {
        stream.exchange.hasReceivedBytes = true
        guard !stream.isTouched else { return }
        stream.isTouched = true
        touched.append(stream)
    }

    // MARK: Fields

    private func received(_ headers: HPACKHeaders, isEnd: Bool, _ stream: HTTP2Stream) {
        touch(stream)
        let head: HTTP2ResponseHead
        do {
            head = try HTTP2ResponseHead(headers, limits: limits)
        } catch {
            return fail(stream, error, reset: error.code == .headTooLarge ? .cancel : .protocolError)
        }
        guard stream.machine.response == .awaitingHead else {
            return complete(stream, trailers: head.fields)
        }
        guard let status = head.status else {
            return fail(stream, TransportError(.endedWithoutResponse), reset: .protocolError)
        }
        let response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: head.fields)
        if status < 200 {
            receivedInformational(response, isEnd: isEnd, stream)
        } else {
            receivedHead(response, isEnd: isEnd, stream)
        }
    }

    private func receivedInformational(_ head: HTTPResponse, isEnd: Bool, _ stream: HTTP2Stream) {
        switch stream.machine.receivedInformational(status: head.status.code, isEnd: isEnd) {
        case .forward:
            stream.exchange.observer?.didReceiveInformational(head)
        case .forwardAndSendBody:
            stream.exchange.observer?.didReceiveInformational(head)
            stream.exchange.deadlines.proceed = nil
            sendBody(stream)
        case .fail(let failure):
            fail(stream, TransportError(failure), reset: .protocolError)
        }
    }

    private func receivedHead(_ head: HTTPResponse, isEnd: Bool, _ stream: HTTP2Stream) {
        switch stream.machine.receivedHead(status: head.status.code) {
        case .deliver: break
        case .deliverAndAbandonBody: stream.exchange.stopBody()
        }
        stream.exchange.received(head)
        if isEnd { complete(stream) }
    }

    // MARK: Bytes

    private func received(_ data: HTTP2Frame.FramePayload.Data, _ stream: HTTP2Stream) {
        touch(stream)
        guard stream.machine.response == .body, case .byteBuffer(var bytes) = data.data else {
            return fail(
                stream, TransportError(.invalidResponse, "The server sent a body before its head."),
                reset: .protocolError)
        }
        if bytes.readableBytes > 0 {
            if stream.exchange.head?.status == .noContent {
                return fail(
                    stream, TransportError(.invalidResponse, "The response has a body where there can be none."),
                    reset: .protocolError)
            }
            if let error = stream.exchange.received(&bytes) { return fail(stream, error, reset: .cancel) }
        }
        if data.endStream { complete(stream) }
    }

    private func windowChanged(_ event: NIOHTTP2WindowUpdatedEvent) {
        guard let window = event.inboundWindowSize else { return }
        if event.streamID == .rootStream {
            let target = options.connectionWindowSize
            if window <= target / 2 { write(.rootStream, .windowUpdate(windowSizeIncrement: target - window)) }
        } else if let stream = streams[event.streamID] {
            stream.inboundWindow = window
            credit(stream)
        }
    }

    /// Lets the server send on, when half of the stream's window is used up and its reader keeps up.
    private func credit(_ stream: HTTP2Stream) {
        let target = options.initialWindowSize
        guard !stream.exchange.isReadPaused, stream.inboundWindow <= target / 2 else { return }
        write(stream.id, .windowUpdate(windowSizeIncrement: target - stream.inboundWindow))
    }

    func resumeReading(_ exchange: HTTPExchange) {
        guard let stream = stream(of: exchange), exchange.isReadPaused else { return }
        exchange.isReadPaused = false
        credit(stream)
        stream.armReadDeadline()
        armWatchdog(exchange.deadlines.next)
    }

    // MARK: The server's wishes

    private func receivedReset(_ code: HTTP2ErrorCode, _ stream: HTTP2Stream) {
        // A stream that was refused was not processed at all (RFC 9113, 8.7).
        let canRepeat = code == .refusedStream && stream.exchange.isReplayable && stream.exchange.head == nil
        fail(stream, .streamReset(code), canRepeat: canRepeat)
    }

    private func receivedGoAway(_ last: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        farewell = code
        if machine.drain() { owner?.capacityChanged(0) }
        // What is above was not processed (RFC 9113, 6.8); what is below goes on.
        for stream in streams.values.filter({ $0.id > last }).sorted(by: { $0.id < $1.id }) {
            fail(stream, .goneAway(code), canRepeat: stream.exchange.isReplayable, reset: .cancel)
        }
        closeIfDone()
    }

    private func received(_ settings: HTTP2Settings) {
        if let size = settings.last(where: { $0.parameter == .maxFrameSize }) { machine.peerFrameSize = size.value }
        guard let limit = settings.last(where: { $0.parameter == .maxConcurrentStreams }) else { return }
        if machine.receivedLimit(limit.value) { owner?.capacityChanged(capacity) }
    }
}
