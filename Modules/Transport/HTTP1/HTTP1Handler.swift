internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// An HTTP/1.1 connection above the codec: runs one exchange after another, in step with ``HTTP1StateMachine``.
final class HTTP1Handler: ChannelInboundHandler, ExchangeHost {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// What a connection tells its owner; called on the event loop.
    struct Owner {
        /// The connection can take the next exchange.
        var becameIdle: () -> Void
        /// The connection is gone.
        var closed: () -> Void
    }

    private let limits: TransportConfiguration.ResponseLimits
    private let continueTimeout: Duration
    private var owner: Owner?
    private var context: ChannelHandlerContext?
    private var machine: HTTP1StateMachine
    private var exchange: HTTPExchange?
    private var watchdog = Watchdog()
    private var isTruncated = false
    /// The response's end depends on the connection's end (RFC 9112, 6.3, the last rule).
    private var endsWithConnection = false

    init(limits: TransportConfiguration.ResponseLimits, continueTimeout: Duration) {
        self.limits = limits
        self.continueTimeout = continueTimeout
        machine = HTTP1StateMachine(informationalLimit: limits.informationalResponses)
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
        let head: HTTPRequestHead
        do {
            head = try HTTP1RequestHead.make(exchange.request)
        } catch {
            exchange.fail(error)
            return giveBack()
        }
        let body = exchange.request.body
        let expectsContinue = body != nil && head.headers.contains(name: "Expect")
        guard let context, context.channel.isActive,
            machine.start(hasBody: body != nil, expectsContinue: expectsContinue, asksToClose: !head.isKeepAlive)
        else {
            return exchange.fail(.staleConnection, canRepeat: exchange.canRepeat)
        }
        self.exchange = exchange
        endsWithConnection = false
        exchange.begin()
        if body == nil { armReadDeadline() }
        write(head, body: body, waitsForContinue: expectsContinue, exchange, context)
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
        armReadDeadline()
        context?.read()
        armWatchdog()
    }

    /// Closes the connection; an exchange that runs on it fails.
    func shutDown(_ error: TransportError) {
        if exchange == nil { close() } else { fail(error) }
    }

    // MARK: The request

    private func write(
        _ head: HTTPRequestHead, body: TransportRequestBody?, waitsForContinue: Bool, _ exchange: HTTPExchange,
        _ context: ChannelHandlerContext
    ) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        switch body {
        case nil:
            exchange.bodyEnded()
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .some where waitsForContinue:
            exchange.deadlines.proceed = .after(continueTimeout)
            context.flush()
        case .some(let body):
            send(body, of: exchange, context)
        }
    }

    private func send(_ body: TransportRequestBody, of exchange: HTTPExchange, _ context: ChannelHandlerContext) {
        switch body {
        case .bytes(let buffer):
            if buffer.readableBytes > 0 {
                let promise = exchange.bodyPromise(buffer, on: context.eventLoop)
                context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: promise)
            }
            endRequest(of: exchange, context)
        case .stream(let length, _, let make):
            context.flush()
            exchange.pumpBody(length: length, make: make, into: self, on: context.eventLoop)
        }
    }

    func sendChunk(_ chunk: ByteBuffer, of exchange: HTTPExchange, _ done: @escaping @Sendable (Bool) -> Void) {
        guard self.exchange === exchange, machine.requestPhase == .sendingBody, let context else { return done(false) }
        let promise = exchange.bodyPromise(chunk, on: context.eventLoop)
        promise.futureResult.whenComplete { result in
            if case .success = result { done(true) } else { done(false) }
        }
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(chunk))), promise: promise)
        armWatchdog()
    }

    func endBody(of exchange: HTTPExchange, _ error: TransportError?) {
        guard self.exchange === exchange, machine.requestPhase == .sendingBody, let context else { return }
        if let error { return fail(error) }
        endRequest(of: exchange, context)
        armWatchdog()
    }

    private func endRequest(of exchange: HTTPExchange, _ context: ChannelHandlerContext) {
        machine.requestBodyEnded()
        exchange.bodyEnded()
        if !exchange.isReadPaused { armReadDeadline() }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
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
        exchange.hasReceivedBytes = true
        switch unwrapInboundIn(data) {
        case .head(let head) where head.status.code < 200:
            receivedInformational(head, exchange, context)
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
            if !exchange.isReadPaused { armReadDeadline() }
            armWatchdog()
        }
        // Also when idle: the end of the connection is noticed by reading alone.
        if exchange?.isReadPaused != true { context.read() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        connectionEnded()
        context.fireChannelInactive()
    }

    /// The channel is closed. Called for its close future, too: a channel that is closed while its connecting is being
    /// told of never becomes inactive. Only the first call counts.
    func connectionEnded() {
        if let exchange {
            fail(
                isTruncated ? .truncated : .connectionClosed(afterBytes: exchange.hasReceivedBytes),
                canRepeat: exchange.canRepeat)
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
        let translated = TransportError(translating: error)
        fail(translated, canRepeat: translated.code == .connectionClosed && (exchange?.canRepeat ?? false))
    }

    // MARK: The response

    private func receivedInformational(
        _ head: HTTPResponseHead, _ exchange: HTTPExchange, _ context: ChannelHandlerContext
    ) {
        switch machine.receivedInformational(status: Int(head.status.code)) {
        case .forward:
            exchange.observer?.didReceiveInformational(HTTPResponse(head))
        case .forwardAndSendBody:
            exchange.observer?.didReceiveInformational(HTTPResponse(head))
            sendAwaitedBody(exchange, context)
        case .fail(let failure):
            fail(TransportError(failure))
        }
    }

    private func sendAwaitedBody(_ exchange: HTTPExchange, _ context: ChannelHandlerContext) {
        exchange.deadlines.proceed = nil
        if let body = exchange.request.body { send(body, of: exchange, context) }
    }

    private func receivedHead(_ head: HTTPResponseHead, _ exchange: HTTPExchange) {
        guard head.headers.count <= limits.headFields else {
            return fail(TransportError(.headTooLarge, "The response's head has more than \(limits.headFields) fields."))
        }
        switch machine.receivedHead(status: Int(head.status.code), keepsAlive: head.isKeepAlive) {
        case .fail(let failure):
            return fail(TransportError(failure))
        case .deliverAndAbandonBody:
            exchange.stopBody()
        case .deliver:
            break
        }
        endsWithConnection = head.endsWithConnection(for: exchange.request.head.method)
        exchange.received(HTTPResponse(head))
    }

    private func receivedEnd(_ trailers: HTTPHeaders?, _ exchange: HTTPExchange) {
        if isTruncated && endsWithConnection { return fail(.truncated) }
        let action = machine.receivedEnd()
        if case .fail(let failure) = action { return fail(TransportError(failure)) }
        self.exchange = nil
        let completion = exchange.complete(trailers: trailers.map { HTTPFields($0) })
        // The connection is free before the caller hears, so that its next request finds it.
        if action == .complete { owner?.becameIdle() }
        exchange.handOver(completion)
        if action == .completeAndClose { context?.close(promise: nil) }
    }

    // MARK: Ends

    private func fail(_ error: TransportError, canRepeat: Bool = false) {
        let failed = exchange
        exchange = nil
        close()
        failed?.fail(error, canRepeat: canRepeat)
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

    private func armReadDeadline() {
        guard let exchange, machine.requestPhase == .complete || machine.responsePhase == .body else { return }
        exchange.armReadDeadline()
    }

    private func armWatchdog() {
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
