internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// An HTTP/2 connection above its framing: gives each exchange a stream, and each stream the frames that are its own.
///
/// It reads without being asked: what holds a server back are the windows of its streams, so that a slow reader of one
/// body stops no other.
final class HTTP2Connection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What a connection tells its owner; called on the event loop.
    struct Owner {
        /// A stream is over: one more request fits.
        var streamEnded: () -> Void
        /// So many streams may run at a time from now on. None means that the next one waits until the server says
        /// otherwise (RFC 9113, 5.1.2).
        var capacityChanged: (Int) -> Void
        /// The connection takes no more streams, ever.
        var isRetiring: () -> Void
        /// The server wants HTTP/1.1 (RFC 9113, 7); false when no connection may speak it.
        var requiresHTTP1: () -> Bool
        /// The connection is gone.
        var closed: () -> Void
    }

    let limits: TransportConfiguration.ResponseLimits
    let continueTimeout: Duration
    var owner: Owner?
    var context: ChannelHandlerContext?
    var machine: HTTP2ConnectionStateMachine
    var framing: HTTP2Framing
    var streams: [Int: HTTP2Stream] = [:]
    /// Streams with news, until all that has come is read.
    var touched: [HTTP2Stream] = []
    var keepAlive: HTTP2KeepAlive
    /// What the windows of the streams may have beyond their first size.
    let windows: HTTP2WindowBudget
    /// Bytes of bodies that were given to the socket and not taken yet.
    var onTheirWay = 0
    /// When the socket last took some, or the server last widened the connection's window.
    var lastProgress = NIODeadline.distantPast
    /// Until when the server has to acknowledge our SETTINGS (RFC 9113, 6.5.3); nil once it has.
    private var settingsDue: NIODeadline?
    /// How many streams it began with, before the server's SETTINGS.
    private let assumedCapacity: Int
    private let settingsTimeout: Duration
    /// Why the server closes the connection, as far as it said.
    var farewell = HTTP2ErrorCode.noError
    private var watchdog = Watchdog()
    var isFlushDue = false
    private var flushTask: (@Sendable () -> Void)?

    init(
        _ configuration: TransportConfiguration, windows: HTTP2WindowBudget, assumedStreams: Int? = nil,
        firstStreamID: Int = 1
    ) {
        // A server that allowed none for a while allows some again, or says otherwise; one that allows many may not yet.
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

    /// How many streams may run at a time, as far as new ones are concerned.
    var capacity: Int { machine.capacity }

    func adopt(_ owner: Owner) {
        self.owner = owner
        // The server's first word may have come before.
        if !machine.takesStreams {
            owner.isRetiring()
        } else if capacity != assumedCapacity {
            owner.capacityChanged(capacity)
        }
    }

    // MARK: The exchange

    /// Sends a request on a stream of its own. Whatever happens, its waiter hears of it once.
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
            open(id, exchange, head)
        } catch {
            refuse(exchange, error)
        }
        // That was the last number there is (RFC 9113, 5.1.1).
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

    /// Never began.
    private func refuse(_ exchange: HTTPExchange, _ error: TransportError) {
        owner?.streamEnded()
        exchange.fail(error)
    }

    // MARK: Ends of streams

    /// The response's last byte is there.
    func complete(_ stream: HTTP2Stream, trailers: HTTPFields? = nil) {
        handOverArrived(stream)
        switch stream.machine.receivedEnd() {
        case .complete:
            break
        case .completeAndReset:
            // The response is whole without the rest of the request (RFC 9113, 8.1).
            reset(stream.id, .noError)
        case .hold:
            return stream.exchange.hold(trailers: trailers)
        case .fail(let failure):
            return fail(stream, TransportError(failure), reset: .protocolError)
        }
        finish(stream, trailers: trailers)
    }

    /// Response and request are over.
    func finish(_ stream: HTTP2Stream, trailers: HTTPFields?) {
        streams[stream.id] = nil
        let completion = conclude(stream, trailers: trailers)
        // The place is free before the caller hears, so that its next request finds it.
        owner?.streamEnded()
        stream.exchange.handOver(completion)
        closeIfDone()
    }

    private func conclude(_ stream: HTTP2Stream, trailers: HTTPFields?) -> TransportResponseBody.Completion {
        stream.dropBody()
        stream.exchange.bodyChannel?.keep(stream.share)
        return stream.exchange.complete(trailers: trailers)
    }

    /// Ends one stream; the others do not notice.
    func fail(
        _ stream: HTTP2Stream, _ error: TransportError, _ failure: TransportMetrics.Failure = .other,
        reset code: HTTP2ErrorCode? = nil
    ) {
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        if let code { reset(stream.id, code) }
        owner?.streamEnded()
        tell(stream, error, failure)
        closeIfDone()
    }

    /// Ends a stream that the server does not go on with. A response that is complete is handed over all the same: what is
    /// missing is the rest of the request.
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
        handOverArrived(stream)
        stream.exchange.bodyChannel?.keep(stream.share)
        stream.exchange.fail(error, failure)
    }

    // MARK: Ends of the connection

    /// Takes no more streams, says so, and closes after the last one.
    func retire() {
        guard machine.drain() else { return }
        owner?.isRetiring()
        framing.goAway(.noError)
        scheduleFlush()
        closeIfDone()
    }

    /// Closes the connection; the exchanges that run on it fail.
    func shutDown(_ error: TransportError) {
        close(error, saying: .noError)
    }

    /// The channel is closed. Only the first call counts.
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

    /// Closes the connection; `code` is what the server is told, unless it has been.
    func close(_ error: TransportError, saying code: HTTP2ErrorCode?) {
        let isFirst = machine.close()
        if isFirst {
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

    /// Says the first words.
    func begin() {
        framing.begin()
        settingsDue = .after(settingsTimeout)
        armWatchdog(settingsDue)
        scheduleFlush()
    }

    /// Resets a stream, unless it has ended.
    func reset(_ id: Int, _ code: HTTP2ErrorCode) {
        framing.reset(id, code)
        scheduleFlush()
    }

    /// What the framing has to write goes out with all else of this turn of the event loop.
    func scheduleFlush() {
        guard !isFlushDue, let flushTask, let context else { return }
        isFlushDue = true
        context.eventLoop.execute(flushTask)
    }

    // MARK: Time

    func armWatchdog(_ due: NIODeadline?) {
        guard let context else { return }
        watchdog.arm(at: due, on: context.eventLoop, self) { $0.watchdogFired() }
    }

    private func watchdogFired() {
        watchdog.fired()
        guard !machine.isClosed else { return }
        let now = NIODeadline.now()
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
            // Others would wait as long if it is the connection that is dead.
            if code == .readTimeout, keepAlive.probe(now) { sendPing() }
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

    // MARK: Life in the pipeline

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        flushTask = { connection.value.flush() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        flushTask = nil
    }
}

extension TransportError.Code {
    /// Whether the error says of itself nothing about the request.
    fileprivate var mayRepeat: Bool { self == .connectionClosed || self == .pingTimeout }
}
