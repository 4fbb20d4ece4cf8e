internal import HTTPTypes
internal import NIOCore

/// The way in: what the framing makes of the server's bytes.
extension HTTP2Connection {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        framing.append(unwrapInboundIn(data), .now())
        do {
            while let event = try framing.next() { received(event) }
        } catch {
            // The framing says GOAWAY.
            close(TransportError(error), saysGoAway: false)
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
            if let stream = streams[id] { fail(stream, TransportError(error)) }
        case .goAway(let last, let code, let unsent):
            receivedGoAway(last, code, unsent: unsent)
        case .settings:
            if machine.receivedLimit(framing.peer.maximumConcurrentStreams) { owner?.capacityChanged(capacity) }
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
            credit(stream)
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

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(TransportError(translating: error), saysGoAway: false)
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
            receivedInformational(response, isEnd: isEnd, stream)
        } else {
            receivedHead(response, status, section.contentLength, isEnd: isEnd, stream)
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

    private func receivedHead(
        _ head: HTTPResponse, _ status: Int, _ contentLength: Int64?, isEnd: Bool, _ stream: HTTP2Stream
    ) {
        let hasBody = stream.exchange.request.head.method != .head && status != 204 && status != 304
        switch stream.machine.receivedHead(
            status: status, contentLength: contentLength, hasBody: hasBody)
        {
        case .deliver: break
        case .deliverAndAbandonBody: stream.exchange.stopBody()
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

    /// Lets the server send on if the stream's reader keeps up.
    private func credit(_ stream: HTTP2Stream) {
        if !stream.exchange.isReadPaused { framing.credit(stream.id) }
    }

    func resumeReading(_ exchange: HTTPExchange) {
        guard let stream = stream(of: exchange), exchange.isReadPaused else { return }
        exchange.isReadPaused = false
        credit(stream)
        scheduleFlush()
        stream.armReadDeadline()
        armWatchdog(exchange.deadlines.next)
    }

    // MARK: The server's wishes

    private func receivedReset(_ code: HTTP2ErrorCode, _ stream: HTTP2Stream) {
        // A stream that was refused was not processed at all (RFC 9113, 8.7).
        let isUnprocessed = code == .refusedStream && stream.exchange.head == nil
        fail(stream, .streamReset(code), isUnprocessed ? .notProcessed : .other)
    }

    private func receivedGoAway(_ last: Int, _ code: HTTP2ErrorCode, unsent: [Int]) {
        farewell = code
        if machine.drain() { owner?.capacityChanged(0) }
        // What is above was not processed (RFC 9113, 6.8); what is below goes on.
        let lost = streams.values.filter { $0.id > last || unsent.contains($0.id) }
        for stream in lost.sorted(by: { $0.id < $1.id }) {
            fail(stream, .goneAway(code), .notProcessed)
        }
        closeIfDone()
    }
}
