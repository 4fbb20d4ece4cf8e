internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// An HTTP/2 connection above the framing layer, which maps each exchange to a stream.
///
/// It reads continuously: stream windows limit the server, so that a slow reader of one body does not block others.
final class HTTP2Connection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let limits: TransportConfiguration.ResponseLimits
    let continueTimeout: Duration
    var owner: (any ConnectionOwner)?
    var context: ChannelHandlerContext?
    var machine: HTTP2ConnectionStateMachine
    var framing: HTTP2Framing
    var streams: [Int: HTTP2Stream] = [:]
    /// Streams with new events, until all received bytes are processed.
    var touched: [HTTP2Stream] = []
    var keepAlive: HTTP2KeepAlive
    /// The budget for stream windows beyond their initial size.
    let windows: HTTP2WindowBudget
    /// The bytes of bodies that the socket has not accepted yet.
    var onTheirWay = 0
    /// The bytes that the server has acknowledged while the socket accepts nothing.
    var delivery: RequestDelivery?
    private(set) var probe: SocketProbe?
    /// When the socket last accepted some, or the server last widened the connection's window.
    var lastProgress = NIODeadline.distantPast
    /// The deadline for the acknowledgement of our SETTINGS (RFC 9113, 6.5.3); nil once it has arrived.
    private var settingsDue: NIODeadline?
    /// The number of streams assumed before the server's SETTINGS arrive.
    private let assumedCapacity: Int
    private let settingsTimeout: Duration
    /// The error code of the server's GOAWAY.
    var farewell = HTTP2ErrorCode.noError
    private var watchdog = Watchdog()
    private var reuse = ConnectionReuse()
    var isFlushDue = false
    private var flushTask: (@Sendable () -> Void)?

    init(
        _ configuration: TransportConfiguration, windows: HTTP2WindowBudget, assumedStreams: Int? = nil,
        firstStreamID: Int = 1
    ) {
        // A server that allowed no streams for a while may allow some again. A server that allows many may allow fewer
        // on a new connection.
        let streams = assumedStreams.map { max(1, $0) } ?? .max
        assumedCapacity = min(streams, HTTP2ConnectionStateMachine.assumedConcurrentStreams)
        self.windows = windows
        settingsTimeout = configuration.http2.pingTimeout
        limits = configuration.limits
        continueTimeout = configuration.continueTimeout
        machine = HTTP2ConnectionStateMachine(firstID: firstStreamID, streams: assumedCapacity)
        framing = HTTP2Framing(configuration)
        framing.peer.maximumConcurrentStreams = assumedCapacity
        keepAlive = HTTP2KeepAlive(configuration.http2)
    }

    /// The number of concurrent streams for new requests.
    var capacity: Int { machine.capacity }

    func adopt(_ owner: any ConnectionOwner) {
        self.owner = owner
        // The server's SETTINGS may have arrived before.
        if !machine.takesStreams {
            owner.isRetiring()
        } else if capacity != assumedCapacity {
            owner.capacityChanged(capacity)
        }
    }

    // MARK: Exchange

    /// Sends a request on its own stream. Its caller is resumed exactly once.
    func start(_ exchange: HTTPExchange) {
        guard !exchange.isCancelled.load(ordering: .acquiring) else {
            return refuse(exchange, .readerCancelled)
        }
        guard let context, context.channel.isActive, machine.takesStreams else {
            return exchange.fail(.staleConnection, .notSent)
        }
        do {
            let head = try HTTP2RequestHead.make(exchange.request)
            guard let id = machine.open() else {
                return exchange.fail(.staleConnection, .notSent)
            }
            reuse.announce(exchange, in: context)
            open(id, exchange, head)
        } catch {
            refuse(exchange, error)
        }
        // Stream numbers are used up (RFC 9113, 5.1.1).
        if !machine.takesStreams { retire() }
    }

    func cancel(_ exchange: HTTPExchange, _ error: TransportError) {
        if let stream = stream(of: exchange) { fail(stream, error, reset: .cancel) }
    }

    /// The stream of an exchange that has not ended.
    func stream(of exchange: HTTPExchange) -> HTTP2Stream? {
        guard let stream = streams[exchange.streamID], stream.exchange === exchange else { return nil }
        return stream
    }

    /// Fails an exchange that has not started.
    private func refuse(_ exchange: HTTPExchange, _ error: TransportError) {
        owner?.exchangeEnded()
        exchange.fail(error)
    }

    // MARK: End of streams

    /// Called when the response is complete.
    func complete(_ stream: HTTP2Stream, trailers: HTTPFields? = nil) {
        stream.exchange.deliverArrived()
        switch stream.machine.receivedEnd() {
        case .complete:
            break
        case .completeAndReset:
            // The response is complete without the rest of the request (RFC 9113, 8.1).
            reset(stream.id, .noError)
        case .hold:
            return stream.exchange.hold(trailers: trailers)
        case .fail(let failure):
            return fail(stream, TransportError(failure), reset: .protocolError)
        }
        finish(stream, trailers: trailers)
    }

    /// Ends a stream whose response and request are complete.
    func finish(_ stream: HTTP2Stream, trailers: HTTPFields?) {
        streams[stream.id] = nil
        let completion = conclude(stream, trailers: trailers)
        // The stream is returned before the caller is resumed, so that its next request finds it.
        owner?.exchangeEnded()
        stream.exchange.handOver(completion)
        closeIfDone()
    }

    private func conclude(_ stream: HTTP2Stream, trailers: HTTPFields?) -> TransportResponseBody.Completion {
        stream.dropBody()
        stream.exchange.bodyChannel?.keep(stream.share)
        return stream.exchange.complete(trailers: trailers)
    }

    /// Fails one stream without affecting others.
    func fail(
        _ stream: HTTP2Stream, _ error: TransportError, _ failure: TransportMetrics.Failure = .other,
        reset code: HTTP2ErrorCode? = nil
    ) {
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        if let code { reset(stream.id, code) }
        owner?.exchangeEnded()
        tell(stream, error, failure)
        closeIfDone()
    }

    /// Ends a stream that the server does not continue. A complete response is still delivered: only the rest of the
    /// request is missing.
    func end(
        _ stream: HTTP2Stream, _ error: TransportError, _ failure: TransportMetrics.Failure = .other,
        reset code: HTTP2ErrorCode? = nil
    ) {
        guard let held = stream.exchange.heldEnd else {
            return fail(stream, error, failure, reset: code)
        }
        if let code { reset(stream.id, code) }
        finish(stream, trailers: held.trailers)
    }

    private func tell(_ stream: HTTP2Stream, _ error: TransportError, _ failure: TransportMetrics.Failure) {
        stream.dropBody()
        stream.exchange.deliverArrived()
        stream.exchange.bodyChannel?.keep(stream.share)
        stream.exchange.fail(error, failure)
    }

    // MARK: End of the connection

    /// Sends GOAWAY, accepts no more streams, and closes after the last one.
    func retire() {
        guard machine.drain() else { return }
        owner?.isRetiring()
        framing.goAway(.noError)
        scheduleFlush()
        closeIfDone()
    }

    /// Frees memory while there is no stream.
    func rest() {
        guard streams.isEmpty, let context, context.channel.isActive else { return }
        framing.rest()
        reuse.rest(in: context)
    }

    /// Closes the connection and fails its exchanges.
    func shutDown(_ error: TransportError) {
        close(error, saying: .noError)
    }

    /// Called when the channel is closed. Only the first call has an effect.
    func connectionEnded() {
        _ = machine.close()
        framing.abandonAll()
        failAll { exchange in
            farewell == .noError
                ? .connectionClosed(afterBytes: exchange.hasReceivedBytes) : .connectionClosed(saying: farewell)
        }
        watchdog.stop()
        flushTask = nil
        owner?.closed()
        owner = nil
    }

    /// Closes the connection, sending GOAWAY with `code` unless that has been done.
    func close(_ error: TransportError, saying code: HTTP2ErrorCode?) {
        let isFirst = machine.close()
        if isFirst {
            // Before the channel closes, so that the server gets the reason.
            if let code { framing.goAway(code) }
            flush()
        }
        failAll { _ in error }
        if isFirst { context?.close(promise: nil) }
    }

    func closeIfDone() {
        guard machine.isDone(streams: streams.count), machine.close() else { return }
        flush()
        context?.close(promise: nil)
    }

    private func failAll(_ error: (HTTPExchange) -> TransportError) {
        let all = streams
        streams = [:]
        touched = []
        // The pool first: an exchange that is repeated must not get this connection.
        if !all.isEmpty { owner?.isEnding() }
        for stream in all.values {
            let error = error(stream.exchange)
            if let held = stream.exchange.heldEnd, error.code != .shutDown {
                stream.exchange.handOver(conclude(stream, trailers: held.trailers))
            } else {
                tell(stream, error, error.code.mayRepeat ? stream.exchange.failureWithConnection : .other)
            }
        }
    }

    // MARK: Writing

    /// Sends the connection preface.
    func begin() {
        framing.begin()
        settingsDue = .after(settingsTimeout)
        armWatchdog(settingsDue)
        scheduleFlush()
    }

    /// Resets a stream, unless it has ended with a response that is not malformed.
    func reset(_ id: Int, _ code: HTTP2ErrorCode) {
        framing.reset(id, code, isMalformed: code == .protocolError)
        scheduleFlush()
    }

    /// Flushes once at the end of this turn of the event loop.
    func scheduleFlush() {
        guard !isFlushDue, let flushTask, let context else { return }
        isFlushDue = true
        context.eventLoop.execute(flushTask)
    }

    // MARK: Timeouts

    func armWatchdog(_ due: NIODeadline?) {
        guard let context else { return }
        watchdog.arm(at: due, on: context.eventLoop, self) { $0.watchdogFired() }
    }

    private func watchdogFired() {
        watchdog.fired()
        guard !machine.isClosed else { return }
        let now = NIODeadline.now()
        // A copy, since a stream that has expired is removed.
        for stream in Array(streams.values) { expire(stream, now) }
        if framing.isAcknowledged { settingsDue = nil }
        if let settingsDue, settingsDue <= now { return close(.settingsTimeout, saying: .settingsTimeout) }
        switch keepAlive.check(now, hasStreams: !streams.isEmpty) {
        case .none: break
        case .ping: sendPing()
        case .giveUp: return close(.pingTimeout, saying: .noError)
        }
        for stream in streams.values { armWatchdog(stream.due) }
        armWatchdog(settingsDue)
        armWatchdog(keepAlive.next(hasStreams: !streams.isEmpty))
    }

    private func expire(_ stream: HTTP2Stream, _ now: NIODeadline) {
        let exchange = stream.exchange
        if let due = stream.roomDue, due <= now {
            fail(stream, .noRoomForStreams, reset: .cancel)
        } else if let (code, message) = exchange.deadlines.expired(at: now) {
            if code == .writeTimeout, let due = extendedWriteDeadline(stream, now) {
                exchange.deadlines.write = due
                return
            }
            if code == .readTimeout, exchange.extendsDeadline(code, probe, now: now) { return }
            // The connection itself may be dead, which affects other streams, and new ones would wait in vain.
            if code == .readTimeout, keepAlive.probe(now) { sendPing() }
            if code != .writeTimeout, keepAlive.isSilent(now) { retire() }
            let error = TransportError(code, message)
            if code == .writeTimeout { end(stream, error, reset: .cancel) } else { fail(stream, error, reset: .cancel) }
        } else if let proceed = exchange.deadlines.proceed, proceed <= now {
            exchange.deadlines.proceed = nil
            if stream.machine.continueTimedOut() { sendBody(stream) }
        }
    }

    private func sendPing() {
        framing.ping()
        scheduleFlush()
    }

    // MARK: Pipeline

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        probe = SocketProbe(context.channel)
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        flushTask = { connection.value.flush() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        probe = nil
        flushTask = nil
    }
}

extension TransportError.Code {
    /// Whether the error does not concern the request itself.
    fileprivate var mayRepeat: Bool { self == .connectionClosed || self == .pingTimeout }
}
