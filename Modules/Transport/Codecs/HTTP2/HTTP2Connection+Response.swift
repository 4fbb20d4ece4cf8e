internal import HTTPTypes
internal import NIOCore

/// Receiving: the events of the framing layer.
extension HTTP2Connection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        framing.append(unwrapInboundIn(data), .now())
        do {
            while let event = try framing.next() { received(event) }
        } catch {
            // The framing layer sends GOAWAY.
            close(TransportError(error), saying: nil)
        }
    }

    private func received(_ event: HTTP2Framing.Event) {
        switch event {
        case .head(let id, let section, let isEnd):
            if let stream = streams[id] { received(section, isEnd: isEnd, stream) }
        case .data(let id, let bytes, let isEnd):
            if let stream = streams[id] { received(bytes, isEnd: isEnd, stream) }
        case .reset(let id, let code):
            if let stream = streams[id] { receivedReset(code, stream) }
        case .broken(let id, let error):
            if let stream = streams[id] { end(stream, TransportError(error)) }
        case .goAway(let last, let code, let unsent):
            receivedGoAway(last, code, unsent: unsent)
        case .settings:
            if machine.receivedLimit(framing.peer.maximumConcurrentStreams) { owner?.capacityChanged(capacity) }
        case .widened:
            lastProgress = .now()
        case .read(let id):
            streams[id]?.exchange.armReadDeadline()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if keepAlive.heard(.now()) { armWatchdog(keepAlive.next(hasStreams: !streams.isEmpty)) }
        for stream in touched {
            stream.isTouched = false
            guard !stream.exchange.hasEnded else { continue }
            stream.exchange.deliverArrived()
            if stream.exchange.awaitsStreamedDelivery {
                stream.exchange.deliverStreamed(by: self, on: context.eventLoop)
            }
            // Once for all frames of a read, so that one WINDOW_UPDATE answers them.
            credit(stream)
            stream.exchange.didRead()
            armWatchdog(stream.due)
        }
        touched.removeAll(keepingCapacity: true)
        flush()
    }

    func channelInactive(context: ChannelHandlerContext) {
        connectionEnded()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(TransportError(translating: error), saying: nil)
    }

    private func touch(_ stream: HTTP2Stream) {
        stream.exchange.hasReceivedBytes = true
        guard !stream.isTouched else { return }
        stream.isTouched = true
        touched.append(stream)
    }

    // MARK: Fields

    private func received(_ section: HTTP2FieldSection, isEnd: Bool, _ stream: HTTP2Stream) {
        touch(stream)
        do {
            try section.check(limits)
        } catch {
            return fail(stream, error, reset: .cancel)
        }
        guard let status = section.status else { return complete(stream, trailers: section.fields) }
        let response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: section.fields)
        if status < 200 {
            receivedInformational(response, bytes: section.bytes, isEnd: isEnd, stream)
        } else {
            receivedHead(
                response, status: status, contentLength: section.contentLength, isEnd: isEnd, on: stream)
        }
    }

    private func receivedInformational(_ head: HTTPResponse, bytes: Int, isEnd: Bool, _ stream: HTTP2Stream) {
        switch stream.machine.receivedInformational(status: head.status.code, bytes: bytes, isEnd: isEnd) {
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

    private func receivedHead(
        _ head: HTTPResponse, status: Int, contentLength: Int64?, isEnd: Bool, on stream: HTTP2Stream
    ) {
        let hasBody = stream.exchange.request.head.method != .head && status != 204 && status != 304
        switch stream.machine.receivedHead(
            status: status, contentLength: contentLength, hasBody: hasBody)
        {
        case .deliver: break
        case .deliverAndAbandonBody: stopBody(of: stream)
        }
        stream.exchange.received(head, status: status)
        if isEnd { complete(stream) }
    }

    // MARK: Bytes

    private func received(_ bytes: ByteBuffer, isEnd: Bool, _ stream: HTTP2Stream) {
        touch(stream)
        var bytes = bytes
        if bytes.readableBytes > 0 {
            if let failure = stream.machine.received(bytes.readableBytes) {
                return fail(stream, TransportError(failure), reset: .protocolError)
            }
            if let error = stream.exchange.received(&bytes) { return fail(stream, error, reset: .cancel) }
        }
        if isEnd { complete(stream) }
    }

    /// Widens the window of a stream when half of it is used, if the reader keeps up.
    private func credit(_ stream: HTTP2Stream) {
        guard !stream.exchange.isReadPaused, let left = framing.receiveWindow(of: stream.id), left <= stream.window / 2
        else { return }
        let most = framing.options.initialWindowSize - framing.firstWindow
        if most > 0 {
            let share = stream.share ?? HTTP2WindowShare(of: windows)
            stream.share = share
            stream.window = framing.firstWindow + share.resize(upTo: most)
        }
        framing.credit(stream.id, upTo: stream.window)
    }

    func resumeReading(_ exchange: HTTPExchange) {
        guard let stream = stream(of: exchange), exchange.isReadPaused else { return }
        exchange.isReadPaused = false
        credit(stream)
        scheduleFlush()
        exchange.armReadDeadline()
        armWatchdog(stream.due)
    }

    // MARK: Resets and GOAWAY

    private func receivedReset(_ code: HTTP2ErrorCode, _ stream: HTTP2Stream) {
        // The server did not process a refused stream (RFC 9113, 8.7) or one that requires HTTP/1.1.
        let isUnprocessed = code == .refusedStream || (code == .http11Required && leavesForHTTP1())
        let failure = isUnprocessed && stream.exchange.head == nil ? TransportMetrics.Failure.notProcessed : .other
        end(stream, .streamReset(code), failure)
    }

    /// Retires the connection because the server requires HTTP/1.1. Returns false if the configuration does not allow
    /// it.
    private func leavesForHTTP1() -> Bool {
        guard owner?.requiresHTTP1() ?? false else { return false }
        retire()
        return true
    }

    private func receivedGoAway(_ last: Int, _ code: HTTP2ErrorCode, unsent: [Int]) {
        farewell = code
        if code == .http11Required { _ = owner?.requiresHTTP1() }
        if machine.drain() { owner?.isRetiring() }
        // Before the streams end: whether the server makes progress decides how often their requests are repeated.
        if framing.firstStream.map({ $0 <= last }) ?? false { owner?.hasProcessed() }
        // Streams above the last one were not processed (RFC 9113, 6.8); the others continue.
        let lost = streams.values.filter { $0.id > last || unsent.contains($0.id) }
        for stream in lost.sorted(by: { $0.id < $1.id }) {
            // A response that has begun contradicts the server's statement.
            if stream.exchange.head == nil {
                end(stream, .goneAway(code), .notProcessed)
            } else {
                end(stream, .connectionClosed(saying: code))
            }
        }
        closeIfDone()
    }
}
