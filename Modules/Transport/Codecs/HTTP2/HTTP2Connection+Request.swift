internal import HTTPTypes
internal import LinnetMessages
internal import NIOCore

/// Sending heads and bodies.
extension HTTP2Connection: ExchangeHost {
    /// The bytes of bodies passed to the socket at a time. The rest stays in the framing layer, so that streams take
    /// turns and progress is known soon.
    private static let mostOnTheirWay = 256 * 1024

    func open(_ id: Int, _ exchange: HTTPExchange, _ head: [HTTP2FieldEncoder.Line]) {
        let hasBody = exchange.request.body.hasContent
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
            // The stream waits for room as in the pool; only the deadline of the whole request applies.
            exchange.deadlines.request = exchange.deadline
            stream.roomDue = exchange.timeouts.poolWait.map { .after($0) }
        }
        scheduleFlush()
        armWatchdog(stream.due)
        armWatchdog(keepAlive.next(hasStreams: true))
    }

    /// Called when the head of the stream is sent.
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

    /// Queues bytes in the framing layer, which sends them as the windows of stream and connection allow.
    private func queue(_ bytes: ByteBuffer, isEnd: Bool, _ stream: HTTP2Stream) {
        if bytes.readableBytes > 0 { stream.exchange.willSendBody() } else { stream.exchange.armWriteDeadline() }
        stream.unsent += bytes.readableBytes
        framing.send(stream.id, bytes, isEnd: isEnd)
        scheduleFlush()
        armWatchdog(stream.due)
    }

    // MARK: Socket

    func flush() {
        isFlushDue = false
        guard let context else { return }
        beginOpened()
        let pieces = framing.takePieces(room: Self.mostOnTheirWay - onTheirWay)
        for piece in pieces { write(piece, context) }
        if !pieces.isEmpty { context.flush() }
        // A server that does not read its answers keeps the channel from being writable.
        if context.channel.isWritable { framing.counts.answersWereTaken() }
        if onTheirWay > 0 { watchDelivery(context) }
        // The last byte of a request may have ended its stream, which made room for others. Their bodies are sent by
        // the flush that they schedule.
        beginOpened()
    }

    /// Begins the streams that waited for room on the server and are open now.
    private func beginOpened() {
        for id in framing.takeOpened() {
            if let stream = streams[id] { begin(stream) }
        }
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

    /// Begins to watch the server's acknowledgements when the socket is full.
    private func watchDelivery(_ context: ChannelHandlerContext) {
        guard delivery == nil, context.channel.isActive else { return }
        delivery = probe?.delivery.map { RequestDelivery($0) }
    }

    private func socketTook(_ carried: [HTTP2Outbox.Carried]) {
        lastProgress = .now()
        delivery = nil
        for part in carried {
            guard let stream = streams[part.stream] else { continue }
            stream.unsent -= part.count
            // Everything queued is one write; each accepted part of it is progress.
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
        stream.exchange.bodyEnded(context?.channel.isActive == true ? probe : nil)
        if isOver { finish(stream, trailers: stream.exchange.heldEnd?.trailers) } else { armWatchdog(stream.due) }
    }

    /// Drops the rest of the request body.
    func stopBody(of stream: HTTP2Stream) {
        framing.dropBody(stream.id)
        stream.exchange.stopBody()
        stream.dropBody()
    }

    /// The new write deadline of a stream whose deadline has passed; nil if it has timed out. A stream that waits for
    /// its own window depends on itself only; others wait for their turn while the connection makes progress.
    func extendedWriteDeadline(_ stream: HTTP2Stream, _ now: NIODeadline) -> NIODeadline? {
        guard let time = stream.exchange.timeouts.idleWrite, !framing.isHeldBack(stream.id) else { return nil }
        let left = TimeAmount(time) - (now - lastProgress)
        if left > .zero { return now + left }
        guard let current = probe?.delivery,
            let due = delivery?.deadline(current, idle: TimeAmount(time), now: now)
        else { return nil }
        lastProgress = now - current.sinceLast
        delivery = RequestDelivery(current)
        return due
    }
}

/// Converts a request head to a field section (RFC 9113, 8.3.1), and rejects invalid requests.
enum HTTP2RequestHead {
    typealias Line = HTTP2FieldEncoder.Line

    static func make(_ request: TransportRequest) throws(TransportError) -> [Line] {
        let head = request.head
        let target = try RequestLine(head)
        var lines: [Line] = []
        lines.reserveCapacity(head.headerFields.count + 5)
        lines.append(Line(name: ":method", value: head.method.rawValue))
        lines.append(Line(name: ":scheme", value: head.scheme ?? "https"))
        lines.append(Line(name: ":authority", value: target.authority))
        // Paths differ from request to request, and would evict fields that repeat.
        lines.append(Line(name: ":path", value: target.path, indexing: .notIndexed))
        let nominated = connectionOptions(head.headerFields)
        for field in head.headerFields where belongs(field) && !nominated.contains(field.name.canonicalName) {
            // Not without content (RFC 9110, 10.1.1).
            if field.name.has("expect"), !request.body.hasContent { continue }
            guard field.withUnsafeBytesOfValue({ UnsafeRawBufferPointer($0).holdsFieldBytesAlone }) else {
                throw TransportError(.invalidRequest, "A field value contains invalid characters.")
            }
            lines.append(Line(name: field.name.canonicalName, value: field.isoLatin1Value, indexing: indexing(field)))
        }
        if let length = request.body.contentLength(for: request.head.method) {
            lines.append(Line(name: "content-length", value: String(length), indexing: .notIndexed))
        }
        return lines
    }

    /// Whether a field may be sent: not if it is specific to HTTP/1.1 connections (RFC 9113, 8.2.2), written by the
    /// transport, or for a proxy, since the connection leads to the origin (RFC 9110, 11.7.2).
    private static func belongs(_ field: HTTPField) -> Bool {
        if field.name.has("te") { return field.value.lowercased() == "trailers" }
        return !transportFields.contains(field.name)
    }

    /// The fields that `Connection` names.
    private static func connectionOptions(_ fields: HTTPFields) -> Set<String> {
        var options: Set<String> = []
        for field in fields where field.name.has("connection") {
            for option in field.value.split(separator: ",") {
                options.insert(option.filter { $0 != " " && $0 != "\t" }.lowercased())
            }
        }
        return options
    }

    /// Secrets are kept out of compression tables (RFC 7541, 7.1.3); values that change each time would only fill them.
    private static func indexing(_ field: HTTPField) -> HTTP2FieldEncoder.Indexing {
        if secrets.contains(field.name) { return .neverIndexed }
        // A short value is easier to guess by its effect on the length of a block (RFC 7541, 7.1.3).
        if field.name.has("cookie"), field.withUnsafeBytesOfValue({ $0.count < 20 }) { return .neverIndexed }
        return changing.contains(field.name) ? .notIndexed : .indexed
    }

    private static let transportFields = NameSet([
        "host", "content-length", "transfer-encoding", "upgrade", "connection", "keep-alive", "proxy-connection",
        "http2-settings", "proxy-authorization",
    ])
    private static let secrets = NameSet(["authorization"])
    private static let changing = NameSet([
        "range", "if-range", "if-none-match", "if-modified-since", "date", "etag",
    ])
}

/// A small set of field names, compared by length first.
private struct NameSet {
    private let names: [String]
    /// A bit for each length of a name.
    private let lengths: UInt64

    /// Creates a set of lower-case names shorter than 64 bytes.
    init(_ names: [String]) {
        self.names = names
        lengths = names.reduce(0) { $0 | 1 << UInt64($1.utf8.count) }
    }

    func contains(_ name: HTTPField.Name) -> Bool {
        let length = name.canonicalName.utf8.count
        return length < 64 && lengths >> UInt64(length) & 1 == 1 && names.contains(name.canonicalName)
    }
}

extension HTTPField.Name {
    /// Whether the name equals a lower-case name; the lengths are compared first.
    fileprivate func has(_ name: String) -> Bool {
        canonicalName.utf8.count == name.utf8.count && canonicalName == name
    }
}
