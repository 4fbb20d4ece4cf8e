internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// An HTTP/1.1 connection above the codec: runs one exchange after another, in step with ``HTTP1StateMachine``.
final class HTTP1Handler: ChannelInboundHandler {
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
    private var exchange: HTTP1Exchange?
    private var deadlines = Deadlines()
    private var watchdog: (task: Scheduled<Void>, due: NIODeadline)?
    private var isReadPaused = false
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
    func start(_ exchange: HTTP1Exchange) {
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
        isReadPaused = false
        endsWithConnection = false
        exchange.metrics.requestStart = .now
        exchange.hasWrittenBytes = true
        deadlines = Deadlines(request: exchange.deadline)
        if body == nil { armReadDeadline() }
        write(head, body: body, waitsForContinue: expectsContinue, context)
        context.read()
        armWatchdog()
    }

    /// Ends an exchange that its caller has given up.
    func cancel(_ exchange: HTTP1Exchange, _ error: TransportError) {
        guard self.exchange === exchange else { return }
        fail(error)
    }

    /// The reader of a streamed body has room again.
    func resumeReading(_ exchange: HTTP1Exchange) {
        guard self.exchange === exchange, isReadPaused else { return }
        isReadPaused = false
        armReadDeadline()
        context?.read()
        armWatchdog()
    }

    var isIdle: Bool { machine.state == .idle }

    /// Closes the connection; an exchange that runs on it fails.
    func shutDown(_ error: TransportError) {
        if exchange == nil { close() } else { fail(error) }
    }

    private func write(
        _ head: HTTPRequestHead, body: TransportRequestBody?, waitsForContinue: Bool, _ context: ChannelHandlerContext
    ) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        switch body {
        case nil:
            exchange?.metrics.requestEnd = .now
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .some where waitsForContinue:
            deadlines.proceed = .after(continueTimeout)
            context.flush()
        case .some(let body):
            send(body, context)
        }
    }

    // MARK: The request's body

    private func send(_ body: TransportRequestBody, _ context: ChannelHandlerContext) {
        guard let exchange else { return }
        switch body {
        case .bytes(let buffer):
            if buffer.readableBytes > 0 {
                context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: bodyPromise(buffer, context))
            }
            endRequest(context)
        case .stream(let length, _, let make):
            context.flush()
            let pump = RequestBodyPump(handler: NIOLoopBound(self, eventLoop: context.eventLoop), exchange: exchange)
            exchange.pump = Task { await pump.run(length: length, make: make) }
        }
    }

    /// Writes a chunk of a streamed body; the promise hears when the socket has taken it, and false when nobody wants
    /// the rest.
    func sendChunk(_ chunk: ByteBuffer, of exchange: HTTP1Exchange, _ done: @escaping @Sendable (Bool) -> Void) {
        guard self.exchange === exchange, machine.requestPhase == .sendingBody, let context else { return done(false) }
        let promise = bodyPromise(chunk, context)
        promise.futureResult.whenComplete { result in
            if case .success = result { done(true) } else { done(false) }
        }
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(chunk))), promise: promise)
        armWatchdog()
    }

    /// The streamed body is at its end, or cannot be produced.
    func endBody(of exchange: HTTP1Exchange, _ error: TransportError?) {
        guard self.exchange === exchange, machine.requestPhase == .sendingBody, let context else { return }
        if let error { return fail(error) }
        endRequest(context)
        armWatchdog()
    }

    private func endRequest(_ context: ChannelHandlerContext) {
        machine.requestBodyEnded()
        exchange?.metrics.requestEnd = .now
        exchange?.pump = nil
        if !isReadPaused { armReadDeadline() }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// A promise that counts a write's bytes once the socket has them; the write deadline runs until then.
    private func bodyPromise(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        let (count, exchange) = (bytes.readableBytes, exchange)
        deadlines.write = exchange?.timeouts.idleWrite.map { .after($0) }
        promise.futureResult.assumeIsolated().whenSuccess {
            guard let exchange, self.exchange === exchange else { return }
            self.deadlines.write = nil
            exchange.metrics.requestBodyBytes += Int64(count)
            exchange.observer?.didSendBody(bytes: count)
        }
        return promise
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
            receivedBody(&bytes, exchange)
        case .end(let trailers):
            receivedEnd(trailers, exchange)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if let exchange {
            if exchange.head != nil && exchange.waiter != nil && exchange.collects == nil { deliverStreamed(exchange) }
            if !isReadPaused { armReadDeadline() }
            armWatchdog()
        }
        // Also when idle: the end of the connection is noticed by reading alone.
        if !isReadPaused { context.read() }
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
        watchdog?.task.cancel()
        watchdog = nil
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
        _ head: HTTPResponseHead, _ exchange: HTTP1Exchange, _ context: ChannelHandlerContext
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

    private func sendAwaitedBody(_ exchange: HTTP1Exchange, _ context: ChannelHandlerContext) {
        deadlines.proceed = nil
        if let body = exchange.request.body { send(body, context) }
    }

    private func receivedHead(_ head: HTTPResponseHead, _ exchange: HTTP1Exchange) {
        guard head.headers.count <= limits.headFields else {
            return fail(TransportError(.headTooLarge, "The response's head has more than \(limits.headFields) fields."))
        }
        switch machine.receivedHead(status: Int(head.status.code), keepsAlive: head.isKeepAlive) {
        case .fail(let failure):
            return fail(TransportError(failure))
        case .deliverAndAbandonBody:
            exchange.pump?.cancel()
            exchange.pump = nil
            deadlines.write = nil
            deadlines.proceed = nil
        case .deliver:
            break
        }
        endsWithConnection = head.endsWithConnection(for: exchange.request.head.method)
        exchange.metrics.responseStart = .now
        exchange.head = HTTPResponse(head)
    }

    private func receivedBody(_ bytes: inout ByteBuffer, _ exchange: HTTP1Exchange) {
        exchange.metrics.responseBodyBytes += Int64(bytes.readableBytes)
        if let bodyChannel = exchange.bodyChannel {
            if !bodyChannel.push(bytes) {
                isReadPaused = true
                deadlines.read = nil
            }
        } else if !exchange.collect(&bytes, limit: exchange.collects ?? .max) {
            fail(TransportError(.bodyTooLarge, "The response's body has more than \(exchange.collects ?? 0) bytes."))
        }
    }

    /// Hands over a streamed response: its head, and what came with it.
    private func deliverStreamed(_ exchange: HTTP1Exchange) {
        guard let head = exchange.head, let context else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        let channel = ResponseBodyChannel(
            resumeReading: { eventLoop.execute { handler.value.resumeReading(exchange) } },
            abandonExchange: { error in eventLoop.execute { handler.value.cancel(exchange, error) } })
        exchange.bodyChannel = channel
        if exchange.collected.readableBytes > 0 {
            isReadPaused = !channel.push(exchange.collected)
            exchange.collected = ByteBuffer()
        }
        exchange.succeed(
            TransportResponse(
                head: head, body: TransportResponseBody(.stream(ResponseBodyReader(channel))),
                metrics: exchange.metrics))
    }

    private func receivedEnd(_ trailers: HTTPHeaders?, _ exchange: HTTP1Exchange) {
        if isTruncated && endsWithConnection { return fail(.truncated) }
        let action = machine.receivedEnd()
        if case .fail(let failure) = action { return fail(TransportError(failure)) }
        self.exchange = nil
        deadlines = Deadlines()
        exchange.pump?.cancel()
        exchange.pump = nil
        exchange.metrics.responseEnd = .now
        exchange.observer?.didFinishAttempt(exchange.metrics)
        let completion = TransportResponseBody.Completion(
            trailers: trailers.map { HTTPFields($0) }, metrics: exchange.metrics)
        // The connection is free before the caller hears, so that its next request finds it.
        if action == .complete { owner?.becameIdle() }
        if let bodyChannel = exchange.bodyChannel {
            bodyChannel.finish(.success(completion))
        } else if let head = exchange.head {
            exchange.succeed(
                TransportResponse(
                    head: head, body: TransportResponseBody(.whole(exchange.collected, completion)),
                    metrics: exchange.metrics))
        }
        isReadPaused = false
        if action == .completeAndClose { context?.close(promise: nil) }
    }

    // MARK: Ends

    private func fail(_ error: TransportError, canRepeat: Bool = false) {
        let failed = exchange
        exchange = nil
        deadlines = Deadlines()
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
        deadlines.read = exchange.timeouts.idleRead.map { .after($0) }
    }

    /// One timer a connection: set again when it fires early, not for each request.
    private func armWatchdog() {
        guard let next = deadlines.next, let context else { return }
        if let watchdog {
            guard next < watchdog.due else { return }
            watchdog.task.cancel()
        }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        watchdog = (context.eventLoop.scheduleTask(deadline: next) { handler.value.watchdogFired() }, next)
    }

    private func watchdogFired() {
        watchdog = nil
        guard let exchange, let context else { return }
        let now = NIODeadline.now()
        if let (code, message) = deadlines.expired(at: now) { return fail(TransportError(code, message)) }
        if let proceed = deadlines.proceed, proceed <= now {
            deadlines.proceed = nil
            if machine.continueTimedOut() { sendAwaitedBody(exchange, context) }
        }
        armWatchdog()
    }
}
