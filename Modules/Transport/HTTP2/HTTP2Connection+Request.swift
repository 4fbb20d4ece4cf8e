internal import HTTPTypes
internal import NIOCore

/// The way out: heads and bodies.
extension HTTP2Connection: ExchangeHost {
    /// How much of a body in memory is given to the framing at a time, so that a server that takes it slowly is not
    /// mistaken for one that takes nothing.
    private static let sliceSize = 1024 * 1024

    func open(_ id: Int, _ exchange: HTTPExchange, _ head: [HTTP2FieldEncoder.Line]) {
        let hasBody = exchange.request.body.map { $0.length != 0 } ?? false
        let waitsForContinue = hasBody && exchange.request.head.headerFields.contains(.expect)
        let stream = HTTP2Stream(
            id: id, exchange: exchange,
            machine: HTTP2StreamStateMachine(
                hasBody: hasBody, expectsContinue: waitsForContinue, informationalLimit: limits.informationalResponses))
        if streams.isEmpty { keepAlive.firstStreamOpened(.now()) }
        streams[id] = stream
        exchange.streamID = id
        exchange.begin()
        framing.open(id, head, isEnd: !hasBody)
        scheduleFlush()
        if !hasBody {
            exchange.bodyEnded()
            exchange.armReadDeadline()
        } else if waitsForContinue {
            exchange.deadlines.proceed = .after(continueTimeout)
        } else {
            sendBody(stream)
        }
        armWatchdog(exchange.deadlines.next)
        armWatchdog(keepAlive.next(hasStreams: true))
    }

    func sendBody(_ stream: HTTP2Stream) {
        switch stream.exchange.request.body {
        case .bytes(let bytes):
            writeBody(bytes, isLast: true, stream)
        case .stream(let length, _, let make):
            guard let context else { return }
            stream.exchange.pumpBody(length: length, make: make, into: self, on: context.eventLoop)
        case nil:
            break
        }
    }

    func sendChunk(_ chunk: ByteBuffer, of exchange: HTTPExchange, _ done: @escaping @Sendable (Bool) -> Void) {
        guard let stream = stream(of: exchange), stream.machine.request == .sendingBody else { return done(false) }
        writeBody(chunk, isLast: false, stream, done)
    }

    func endBody(of exchange: HTTPExchange, _ error: TransportError?) {
        guard let stream = stream(of: exchange), stream.machine.request == .sendingBody else { return }
        if let error { return fail(stream, error, reset: .cancel) }
        writeBody(ByteBuffer(), isLast: true, stream)
    }

    /// Writes bytes slice by slice, each when the socket has taken the one before; the framing splits a slice into
    /// frames, and waits for the windows of stream and connection.
    private func writeBody(
        _ bytes: ByteBuffer, isLast: Bool, _ stream: HTTP2Stream, _ done: (@Sendable (Bool) -> Void)? = nil
    ) {
        guard let context else { return done?(false) ?? () }
        var bytes = bytes
        let slice = bytes.readSlice(length: min(bytes.readableBytes, Self.sliceSize)) ?? ByteBuffer()
        let (rest, isEnd) = (bytes, isLast && bytes.readableBytes == 0)
        let promise = stream.exchange.bodyPromise(slice, on: context.eventLoop)
        promise.futureResult.assumeIsolated().whenComplete { result in
            guard case .success = result, !stream.exchange.hasEnded, stream.machine.request == .sendingBody else {
                return done?(false) ?? ()
            }
            if rest.readableBytes > 0 { return self.writeBody(rest, isLast: isLast, stream, done) }
            if isEnd { self.requestEnded(stream) }
            done?(true)
        }
        framing.send(stream.id, slice, isEnd: isEnd, promise)
        scheduleFlush()
        armWatchdog(stream.exchange.deadlines.next)
    }

    private func requestEnded(_ stream: HTTP2Stream) {
        stream.machine.requestBodyEnded()
        stream.exchange.bodyEnded()
        stream.armReadDeadline()
        armWatchdog(stream.exchange.deadlines.next)
    }
}
