internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// An HTTP/1.1 connection, which runs one exchange after another with ``HTTP1StateMachine``.
///
/// It is also the codec: bytes pass no other handler except for TLS.
final class HTTP1Handler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let continueTimeout: Duration
    /// The proxy that forwards the requests; nil if the origin receives them.
    private let proxy: ProxyServer?
    private var owner: (any ConnectionOwner)?
    var context: ChannelHandlerContext?
    var machine: HTTP1StateMachine
    private var parser: HTTP1ResponseParser
    /// The output buffer, reused for each request.
    var output = ByteBuffer()
    /// The bytes of the body that the socket has not accepted; nil for a chunked body.
    var bodyBytesLeft: Int64?
    /// The slice size, adapted to the socket's speed.
    var sliceSize = BodySliceSize()
    /// The slices written since the event loop's other connections had a turn.
    var slicesInARow = 0
    var exchange: HTTPExchange?
    private(set) var probe: SocketProbe?
    private var watchdog = Watchdog()
    private var isTruncated = false
    private var reuse = ConnectionReuse()
    /// Whether streamed bodies may be read in larger pieces than the connection reads so far.
    private var mayGrowReads: Bool

    init(
        limits: TransportConfiguration.ResponseLimits, continueTimeout: Duration, readsLargePieces: Bool = false,
        forwardingTo proxy: ProxyServer? = nil
    ) {
        self.continueTimeout = continueTimeout
        mayGrowReads = readsLargePieces
        self.proxy = proxy
        machine = HTTP1StateMachine()
        parser = HTTP1ResponseParser(limits: limits)
    }

    func adopt(_ owner: any ConnectionOwner) {
        self.owner = owner
    }

    // MARK: Exchange

    /// Sends a request. Its caller is resumed exactly once.
    ///
    /// - Parameter looks: How often bytes to read were found on its connection, and waited for.
    func start(_ exchange: HTTPExchange, looks: Int = 0) {
        guard !exchange.isCancelled.load(ordering: .acquiring) else {
            exchange.fail(.readerCancelled)
            return giveBack()
        }
        guard mayStart(exchange, looks: looks) else { return }
        var writer: HTTP1RequestWriter
        do {
            writer = try HTTP1RequestWriter(exchange, through: proxy)
            output.clear()
            try writer.write(to: &output)
        } catch {
            exchange.fail(error)
            return giveBack()
        }
        let body = exchange.request.body
        guard let context, context.channel.isActive,
            machine.start(
                hasBody: isSentInParts(exchange.request), expectsContinue: writer.expectsContinue,
                asksToClose: writer.asksToClose, mayUpgrade: exchange.request.upgrade != nil)
        else {
            return exchange.fail(.staleConnection, .notSent)
        }
        self.exchange = exchange
        exchange.proxyAnswer = writer.proxyAnswer
        if case .chunked = writer.framing { bodyBytesLeft = nil } else { bodyBytesLeft = body?.length ?? 0 }
        // The method decides whether the response has a body (RFC 9112, 6.3).
        parser.begin(exchange.request.head.method)
        exchange.begin()
        reuse.announce(exchange, in: context)
        write(body: body, waitsForContinue: writer.expectsContinue, exchange, context)
        context.read()
        armWatchdog()
    }

    /// How often bytes of an idle connection are waited for.
    private static let mostLooks = 20

    /// Looks whether the socket of a connection that is used again has bytes to read. Returns false if the exchange is
    /// over, or starts later.
    ///
    /// Such bytes answer no request that has not been written. Usually the event loop has read them, and closed the
    /// connection, before the next request comes, but they can arrive in between. The same holds for the end of the
    /// connection, after which any request can be sent again. The look is one system call for each request but the
    /// first; without it the request would have to wait for another turn of the event loop.
    private func mayStart(_ exchange: HTTPExchange, looks: Int) -> Bool {
        guard exchange.mayBeStale, let probe, let context, context.channel.isActive else { return true }
        switch probe.input {
        case .nothing: return true
        case .bytes where looks < Self.mostLooks:
            // The event loop reads them, and closes the connection unless they belong to TLS, like a session ticket.
            let this = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) {
                this.value.start(exchange, looks: looks + 1)
            }
        case .bytes, .end:
            close()
            exchange.fail(.staleConnection, .notSent)
        }
        return false
    }

    func cancel(_ exchange: HTTPExchange, _ error: TransportError) {
        guard self.exchange === exchange else { return }
        fail(error)
    }

    func resumeReading(_ exchange: HTTPExchange) {
        guard self.exchange === exchange, exchange.isReadPaused else { return }
        exchange.isReadPaused = false
        exchange.armReadDeadline()
        context?.read()
        armWatchdog()
    }

    /// Closes the connection and fails a running exchange.
    func shutDown(_ error: TransportError) {
        if exchange == nil { close() } else { fail(error) }
    }

    /// Frees memory while there is no exchange.
    func rest() {
        guard exchange == nil, let context, context.channel.isActive else { return }
        output = ByteBuffer()
        parser.rest()
        reuse.rest(in: context)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        probe = SocketProbe(context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        probe = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let exchange else {
            // Unsolicited bytes: the connection can no longer be trusted.
            return close()
        }
        if endHeldResponse() { return }
        exchange.hasReceivedBytes = true
        parser.append(unwrapInboundIn(data))
        do {
            // The end of the response is the last event; another exchange may have started by then.
            while self.exchange === exchange, let event = try parser.next() { received(event, exchange, context) }
            exchange.deliverArrived()
        } catch {
            fail(TransportError(error))
        }
    }

    private func received(
        _ event: HTTP1ResponseParser.Event, _ exchange: HTTPExchange, _ context: ChannelHandlerContext
    ) {
        switch event {
        case .head(let head) where head.isInformational:
            receivedInformational(head.response, exchange, context)
        case .head(let head):
            receivedHead(head, exchange)
        case .body(var bytes):
            if let error = exchange.received(&bytes) { fail(error) }
        case .end(let trailers):
            receivedEnd(trailers, exchange)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if let exchange {
            if exchange.awaitsStreamedDelivery {
                growReads(context)
                exchange.deliverStreamed(by: self, on: context.eventLoop)
            }
            exchange.didRead()
            armWatchdog()
        }
        // Also when idle, since only reading detects the end of the connection.
        if exchange?.isReadPaused != true { context.read() }
    }

    /// Reads in pieces of up to 512 KiB from now on, since each wakes the reader of a streamed body. It gets one at a
    /// time: with another one that it processes, about 1 MiB is in memory.
    private func growReads(_ context: ChannelHandlerContext) {
        guard mayGrowReads else { return }
        mayGrowReads = false
        let options = context.channel.syncOptions
        let sizes = AdaptiveRecvByteBufferAllocator(minimum: 1_024, initial: 65_536, maximum: 524_288)
        // The options are only refused by a closed channel, which reads nothing.
        try? options?.setOption(.recvAllocator, value: sizes)
        try? options?.setOption(.maxMessagesPerRead, value: 1)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // An attacker can end a TCP connection: without close_notify, a body that ends with it may be cut (RFC 8446,
        // 6.1).
        if let exchange, !isTruncated, let event = parser.finish() { received(event, exchange, context) }
        connectionEnded()
        context.fireChannelInactive()
    }

    /// Called when the channel is closed, also for its close future: a channel that is closed while connecting never
    /// becomes inactive. Only the first call has an effect.
    func connectionEnded() {
        if let exchange, !endHeldResponse() {
            fail(
                isTruncated ? .truncated : .connectionClosed(afterBytes: exchange.hasReceivedBytes),
                exchange.failureWithConnection)
        }
        machine.close()
        watchdog.stop()
        owner?.closed()
        owner = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is TLSTruncated { isTruncated = true }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !endHeldResponse() else { return }
        let translated = TransportError(translating: error)
        fail(translated, translated.code == .connectionClosed ? exchange?.failureWithConnection ?? .other : .other)
    }

    // MARK: Response

    /// Called when the rest of the request cannot be sent. Returns true and delivers the response if that is complete.
    private func endHeldResponse() -> Bool {
        guard let exchange, let action = machine.requestBodyBroke() else { return false }
        end(exchange, action, exchange.heldEnd?.trailers)
        return true
    }

    // Not inlined: each read would make room on the stack for the task that produces a body.
    @inline(never)
    private func receivedInformational(
        _ head: HTTPResponse, _ exchange: HTTPExchange, _ context: ChannelHandlerContext
    ) {
        switch machine.receivedInformational(status: head.status.code) {
        case .forward:
            exchange.observer?.didReceiveInformational(head)
        case .forwardAndSendBody:
            exchange.observer?.didReceiveInformational(head)
            sendAwaitedBody(exchange, context)
        case .switchProtocols:
            switchProtocols(head, exchange, context)
        case .fail(let failure):
            fail(TransportError(failure))
        }
    }

    private func receivedHead(_ head: HTTP1ResponseHead, _ exchange: HTTPExchange) {
        switch machine.receivedHead(
            status: head.statusCode, keepsAlive: head.keepsAlive && !parser.endsWithConnection)
        {
        case .fail(let failure):
            return fail(TransportError(failure))
        case .deliverAndAbandonBody:
            exchange.stopBody()
        case .deliver:
            break
        }
        exchange.received(head.response, status: head.statusCode)
    }

    private func receivedEnd(_ trailers: HTTPFields?, _ exchange: HTTPExchange) {
        let action = machine.receivedEnd(hasSurplus: parser.hasSurplus)
        switch action {
        case .fail(let failure): fail(TransportError(failure))
        case .hold: exchange.hold(trailers: trailers)
        case .complete, .completeAndClose: end(exchange, action, trailers)
        }
    }

    /// Ends the exchange.
    func end(_ exchange: HTTPExchange, _ action: HTTP1StateMachine.EndAction, _ trailers: HTTPFields?) {
        self.exchange = nil
        let completion = exchange.complete(trailers: trailers)
        // The connection is returned before the caller is resumed, so that its next request finds it.
        if action == .complete { owner?.exchangeEnded() }
        exchange.handOver(completion)
        if action == .completeAndClose { context?.close(promise: nil) }
    }

    // MARK: Upgrade

    /// Ends the exchange with the connection itself, which leaves the pool, and leaves it to the handlers of the new
    /// protocol.
    private func switchProtocols(_ head: HTTPResponse, _ exchange: HTTPExchange, _ context: ChannelHandlerContext) {
        guard let upgrade = exchange.request.upgrade else { return fail(.otherProtocol(head)) }
        if let error = upgrade.refusal(of: head) { return fail(error) }
        let connection: UpgradedConnection
        do {
            connection = UpgradedConnection(owner: try upgrade.start(context.channel, head), channel: context.channel)
        } catch {
            return fail(error)
        }
        self.exchange = nil
        watchdog.stop()
        owner?.closed()
        owner = nil
        exchange.received(head, status: head.status.code)
        _ = exchange.complete(trailers: nil)
        exchange.succeed(
            TransportResponse(
                head: head, body: TransportResponseBody(.upgraded(connection)), metrics: exchange.metrics))
        // The server may send its first messages together with the 101.
        if let bytes = parser.takeSurplus() { context.fireChannelRead(wrapInboundOut(bytes)) }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    // MARK: Failure

    func fail(_ error: TransportError, _ failure: TransportMetrics.Failure = .other) {
        // Taken first: closing can end the channel at once, which would fail the exchange with another error.
        let failed = exchange
        exchange = nil
        close()
        failed?.fail(error, failure)
    }

    private func close() {
        machine.close()
        context?.close(promise: nil)
    }

    /// Returns the connection unused.
    private func giveBack() {
        if machine.state == .idle { owner?.exchangeEnded() }
    }

    // MARK: Timeouts

    func armWatchdog() {
        guard let exchange, let context else { return }
        watchdog.arm(at: exchange.deadlines.next, on: context.eventLoop, self) { $0.watchdogFired() }
    }

    private func watchdogFired() {
        watchdog.fired()
        guard let exchange, let context else { return }
        let now = NIODeadline.now()
        if let (code, message) = exchange.deadlines.expired(at: now) {
            guard context.channel.isActive, exchange.extendsDeadline(code, probe, now: now) else {
                return fail(TransportError(code, message))
            }
            return armWatchdog()
        }
        if let proceed = exchange.deadlines.proceed, proceed <= now {
            exchange.deadlines.proceed = nil
            if machine.continueTimedOut() { sendAwaitedBody(exchange, context) }
        }
        armWatchdog()
    }
}
