internal import HTTPTypes
internal import NIOCore

/// The way out: heads and bodies.
extension HTTP2Connection: ExchangeHost {
    /// How many bytes of bodies are given to the socket at a time. What waits beyond that stays with the framing, so that
    /// streams take turns, and what they have sent is known soon.
    private static let mostOnTheirWay = 256 * 1024

    func open(_ id: Int, _ exchange: HTTPExchange, _ head: [HTTP2FieldEncoder.Line]) {
        let hasBody = exchange.request.body.map { $0.length != 0 } ?? false
        let stream = HTTP2Stream(
            id: id, exchange: exchange,
            machine: HTTP2StreamStateMachine(
                hasBody: hasBody, expectsContinue: hasBody && exchange.request.head.headerFields.contains(.expect),
                informationalBytes: limits.headBytes),
            window: framing.firstWindow)
        if streams.isEmpty { keepAlive.firstStreamOpened(.now()) }
        streams[id] = stream
        exchange.streamID = id
        if framing.open(id, head, isEnd: !hasBody) {
            begin(stream)
        } else {
            // As in the pool, it waits for a place, and no time of the exchange runs but that of the whole.
            exchange.deadlines.request = exchange.deadline
            stream.roomDue = exchange.timeouts.poolWait.map { .after($0) }
        }
        scheduleFlush()
        armWatchdog(stream.due)
        armWatchdog(keepAlive.next(hasStreams: true))
    }

    /// The stream's head goes out now.
    func begin(_ stream: HTTP2Stream) {
        stream.roomDue = nil
        stream.exchange.begin()
        switch stream.machine.request {
        case .awaitingContinue: stream.exchange.deadlines.proceed = .after(continueTimeout)
        case .sendingBody: sendBody(stream)
        case .complete, .abandoned: stream.exchange.bodyEnded()
        }
        armWatchdog(stream.due)
    }

    // MARK: Bodies

    func sendBody(_ stream: HTTP2Stream) {
        switch stream.exchange.request.body {
        case .bytes(let bytes):
            queue(bytes, isEnd: true, stream)
        case .stream(let length, _, let make):
            guard let context else { return }
            stream.exchange.pumpBody(length: length, make: make, into: self, on: context.eventLoop)
        case nil:
            break
        }
    }

    func sendChunk(_ chunk: ByteBuffer, of exchange: HTTPExchange, _ done: @escaping @Sendable (Bool) -> Void) {
        guard let stream = stream(of: exchange), stream.machine.request == .sendingBody else { return done(false) }
        stream.chunkTaken = done
        queue(chunk, isEnd: false, stream)
    }

    func endBody(of exchange: HTTPExchange, _ error: TransportError?) {
        guard let stream = stream(of: exchange), stream.machine.request == .sendingBody else { return }
        if let error { return fail(stream, error, reset: .cancel) }
        queue(ByteBuffer(), isEnd: true, stream)
    }

    /// Gives bytes to the framing, which sends them as the windows of stream and connection let it.
    private func queue(_ bytes: ByteBuffer, isEnd: Bool, _ stream: HTTP2Stream) {
        if bytes.readableBytes > 0 { stream.exchange.willSendBody() } else { stream.exchange.armWriteDeadline() }
        stream.unsent += bytes.readableBytes
        framing.send(stream.id, bytes, isEnd: isEnd)
        scheduleFlush()
        armWatchdog(stream.due)
    }

    // MARK: The socket

    func flush() {
        isFlushDue = false
        guard let context else { return }
        for id in framing.takeOpened() {
            if let stream = streams[id] { begin(stream) }
        }
        let pieces = framing.takePieces(room: Self.mostOnTheirWay - onTheirWay)
        for piece in pieces { write(piece, context) }
        if !pieces.isEmpty { context.flush() }
        if context.channel.isWritable { framing.counts.answersWereTaken() }
    }

    private func write(_ piece: HTTP2Outbox.Piece, _ context: ChannelHandlerContext) {
        guard !piece.carried.isEmpty else { return context.write(wrapOutboundOut(piece.bytes), promise: nil) }
        let (promise, count) = (context.eventLoop.makePromise(of: Void.self), piece.carriedBytes)
        onTheirWay += count
        promise.futureResult.assumeIsolated().whenComplete { result in
            self.onTheirWay -= count
            if case .success = result { self.socketTook(piece.carried) }
        }
        context.write(wrapOutboundOut(piece.bytes), promise: promise)
    }

    private func socketTook(_ carried: [HTTP2Outbox.Carried]) {
        lastProgress = .now()
        for part in carried {
            guard let stream = streams[part.stream] else { continue }
            stream.unsent -= part.count
            // All that was queued is one write; each part of it that was taken is progress.
            if stream.unsent > 0 { stream.exchange.willSendBody() }
            if part.count > 0 { stream.exchange.didSendBody(bytes: part.count) }
            if part.isEnd {
                requestEnded(stream)
            } else if stream.unsent == 0 {
                stream.chunkTaken.take()?(true)
            }
        }
        if framing.hasSenders { scheduleFlush() }
    }

    private func requestEnded(_ stream: HTTP2Stream) {
        let isOver = stream.machine.requestBodyEnded()
        stream.exchange.bodyEnded()
        if isOver { finish(stream, trailers: stream.exchange.heldEnd?.trailers) } else { armWatchdog(stream.due) }
    }

    /// The rest of the request's body is not wanted.
    func stopBody(of stream: HTTP2Stream) {
        framing.dropBody(stream.id)
        stream.exchange.stopBody()
        stream.dropBody()
    }

    /// When a stream whose time to send has passed is to be looked at again; nil when it has failed. One that waits for its
    /// own window has only itself to go by; the others share a connection, and wait for their turn as long as that moves.
    func extendedWriteDeadline(_ stream: HTTP2Stream, _ now: NIODeadline) -> NIODeadline? {
        guard let time = stream.exchange.timeouts.idleWrite, !framing.isHeldBack(stream.id) else { return nil }
        let left = TimeAmount(time) - (now - lastProgress)
        return left > .zero ? now + left : nil
    }
}
