internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// An HTTP/1.1 connection: runs one exchange after another, in step with ``HTTP1StateMachine``.
///
/// It takes the connection's bytes as they are, and is its codec too: a request or response passes no other handler but
/// TLS's.
final class HTTP1Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What a connection tells its owner; called on the event loop.
    struct Owner {
        /// The connection can take the next exchange.
        var becameIdle: () -> Void
        /// The connection is gone.
        var closed: () -> Void
    }

    let continueTimeout: Duration
    private var owner: Owner?
    var context: ChannelHandlerContext?
    var machine: HTTP1StateMachine
    private var parser: HTTP1ResponseParser
    /// What is written next; the memory serves one request after another.
    var output = ByteBuffer()
    /// Bytes of the body that the framing promises and that were not taken yet; nil where it is sent in chunks.
    var bodyBytesLeft: Int64?
    /// As the socket has taken bodies so far.
    var sliceSize = BodySliceSize()
    /// Slices that were written since the event loop was last left to others.
    var slicesInARow = 0
    var exchange: HTTPExchange?
    private var watchdog = Watchdog()
    private var isTruncated = false

    init(limits: TransportConfiguration.ResponseLimits, continueTimeout: Duration) {
        self.continueTimeout = continueTimeout
        machine = HTTP1StateMachine()
        parser = HTTP1ResponseParser(limits: limits)
    }

    func adopt(_ owner: Owner) {
        self.owner = owner
    }

    // MARK: The exchange

    /// Sends a request. Whatever happens, its waiter hears of it once.
    func start(_ exchange: HTTPExchange) {
        guard !exchange.isCancelled.load(ordering: .acquiring) else {
            exchange.fail(.readerCancelled)
            return giveBack()
        }
        var writer: HTTP1RequestWriter
        do {
            writer = try HTTP1RequestWriter(exchange.request)
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
                asksToClose: writer.asksToClose)
        else {
            return exchange.fail(.staleConnection, .notSent)
        }
        self.exchange = exchange
        if case .chunked = writer.framing { bodyBytesLeft = nil } else { bodyBytesLeft = body?.length ?? 0 }
        parser.begin(exchange.request.head.method)
        exchange.begin()
        write(body: body, waitsForContinue: writer.expectsContinue, exchange, context)
        context.read()
        armWatchdog()
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

    /// Closes the connection; an exchange that runs on it fails.
    func shutDown(_ error: TransportError) {
        if exchange == nil { close() } else { fail(error) }
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let exchange else {
            // Nobody asked: the connection cannot be trusted any more.
            return close()
        }
        if endHeldResponse() { return }
        exchange.hasReceivedBytes = true
        parser.append(unwrapInboundIn(data))
        do {
            // The response's end is the last event; by then another exchange may have begun.
            while self.exchange === exchange, let event = try parser.next() { received(event, exchange, context) }
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
            if exchange.awaitsStreamedDelivery { exchange.deliverStreamed(by: self, on: context.eventLoop) }
            exchange.armReadDeadline()
            armWatchdog()
        }
        // Also when idle: the end of the connection is noticed by reading alone.
        if exchange?.isReadPaused != true { context.read() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let exchange, !isTruncated, let event = parser.finish() { received(event, exchange, context) }
        connectionEnded()
        context.fireChannelInactive()
    }

    /// The channel is closed. Called for its close future, too: a channel that is closed while its connecting is being
    /// told of never becomes inactive. Only the first call counts.
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

    // MARK: The response

    private func receivedInformational(
        _ head: HTTPResponse, _ exchange: HTTPExchange, _ context: ChannelHandlerContext
    ) {
        switch machine.receivedInformational(status: head.status.code) {
        case .forward:
            exchange.observer?.didReceiveInformational(head)
        case .forwardAndSendBody:
            exchange.observer?.didReceiveInformational(head)
            sendAwaitedBody(exchange, context)
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

    /// Request and response are over.
    func end(_ exchange: HTTPExchange, _ action: HTTP1StateMachine.EndAction, _ trailers: HTTPFields?) {
        self.exchange = nil
        let completion = exchange.complete(trailers: trailers)
        // The connection is free before the caller hears, so that its next request finds it.
        if action == .complete { owner?.becameIdle() }
        exchange.handOver(completion)
        if action == .completeAndClose { context?.close(promise: nil) }
    }

    // MARK: Ends

    func fail(_ error: TransportError, _ failure: TransportMetrics.Failure = .other) {
        let failed = exchange
        exchange = nil
        close()
        failed?.fail(error, failure)
    }

    private func close() {
        machine.close()
        context?.close(promise: nil)
    }

    /// Hands the connection back unused.
    private func giveBack() {
        if machine.state == .idle { owner?.becameIdle() }
    }

    // MARK: Time

    func armWatchdog() {
        guard let exchange, let context else { return }
        watchdog.arm(at: exchange.deadlines.next, on: context.eventLoop, self) { $0.watchdogFired() }
    }

    private func watchdogFired() {
        watchdog.fired()
        guard let exchange, let context else { return }
        let now = NIODeadline.now()
        if let (code, message) = exchange.deadlines.expired(at: now) { return fail(TransportError(code, message)) }
        if let proceed = exchange.deadlines.proceed, proceed <= now {
            exchange.deadlines.proceed = nil
            if machine.continueTimedOut() { sendAwaitedBody(exchange, context) }
        }
        armWatchdog()
    }
}
