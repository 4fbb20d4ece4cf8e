internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// An HTTP/1.1 connection: runs one exchange after another, in step with ``HTTP1StateMachine``.
///
/// It takes the connection's bytes as they are, and is its codec too: a request or response passes no other handler but
/// TLS's.
final class HTTP1Handler: ChannelInboundHandler, ExchangeHost {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What a connection tells its owner; called on the event loop.
    struct Owner {
        /// The connection can take the next exchange.
        var becameIdle: () -> Void
        /// The connection is gone.
        var closed: () -> Void
    }

    /// Bodies up to this are written into one piece with the head.
    private static let mostBytesWithHead = 4096
    /// What a connection keeps to write in.
    private static let mostBytesKept = 16_384

    private let continueTimeout: Duration
    private var owner: Owner?
    private var context: ChannelHandlerContext?
    private var machine: HTTP1StateMachine
    private var parser: HTTP1ResponseParser
    /// What is written next; the memory serves one request after another.
    private var output = ByteBuffer()
    private var sendsChunks = false
    private var exchange: HTTPExchange?
    private var watchdog = Watchdog()
    private var isTruncated = false

    init(limits: TransportConfiguration.ResponseLimits, continueTimeout: Duration) {
        self.continueTimeout = continueTimeout
        machine = HTTP1StateMachine(informationalLimit: limits.informationalResponses)
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
        let writer: HTTP1RequestWriter
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
                hasBody: body != nil, expectsContinue: writer.expectsContinue, asksToClose: writer.asksToClose)
        else {
            return exchange.fail(.staleConnection, canRepeat: exchange.canRepeat)
        }
        self.exchange = exchange
        if case .chunked = writer.framing { sendsChunks = true } else { sendsChunks = false }
        parser.begin(exchange.request.head.method)
        exchange.begin()
        if body == nil { armReadDeadline() }
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
        armReadDeadline()
        context?.read()
        armWatchdog()
    }

    /// Closes the connection; an exchange that runs on it fails.
    func shutDown(_ error: TransportError) {
        if exchange == nil { close() } else { fail(error) }
    }

    // MARK: The request

    /// Writes the head that `output` holds, and what can follow it at once.
    private func write(
        body: TransportRequestBody?, waitsForContinue: Bool, _ exchange: HTTPExchange, _ context: ChannelHandlerContext
    ) {
        switch body {
        case nil:
            exchange.bodyEnded()
            writeOutput(context)
        case .bytes(var bytes) where !waitsForContinue && bytes.readableBytes <= Self.mostBytesWithHead:
            let promise = bytes.readableBytes > 0 ? exchange.bodyPromise(bytes, on: context.eventLoop) : nil
            output.writeBuffer(&bytes)
            writeOutput(context, promise)
            requestEnded(exchange)
        case .some where waitsForContinue:
            exchange.deadlines.proceed = .after(continueTimeout)
            writeOutput(context)
        case .some(let body):
            context.write(wrapOutboundOut(output), promise: nil)
            send(body, of: exchange, context)
        }
    }

    private func writeOutput(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil) {
        context.writeAndFlush(wrapOutboundOut(output), promise: promise)
        if output.capacity > Self.mostBytesKept { output = ByteBuffer() }
    }

    private func send(_ body: TransportRequestBody, of exchange: HTTPExchange, _ context: ChannelHandlerContext) {
        switch body {
        case .bytes(let buffer):
            if buffer.readableBytes > 0 {
                let promise = exchange.bodyPromise(buffer, on: context.eventLoop)
                context.write(wrapOutboundOut(buffer), promise: promise)
            }
            context.flush()
            requestEnded(exchange)
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
        if sendsChunks {
            let size = String(chunk.readableBytes, radix: 16)
            context.write(wrapOutboundOut(ByteBuffer(string: size + "\r\n")), promise: nil)
            context.write(wrapOutboundOut(chunk), promise: nil)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "\r\n")), promise: promise)
        } else {
            context.writeAndFlush(wrapOutboundOut(chunk), promise: promise)
        }
        armWatchdog()
    }

    func endBody(of exchange: HTTPExchange, _ error: TransportError?) {
        guard self.exchange === exchange, machine.requestPhase == .sendingBody, let context else { return }
        if let error { return fail(error) }
        if sendsChunks { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "0\r\n\r\n")), promise: nil) }
        requestEnded(exchange)
        armWatchdog()
    }

    private func requestEnded(_ exchange: HTTPExchange) {
        machine.requestBodyEnded()
        exchange.bodyEnded()
        if !exchange.isReadPaused { armReadDeadline() }
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
            if !exchange.isReadPaused { armReadDeadline() }
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

    private func sendAwaitedBody(_ exchange: HTTPExchange, _ context: ChannelHandlerContext) {
        exchange.deadlines.proceed = nil
        if let body = exchange.request.body { send(body, of: exchange, context) }
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
        if case .fail(let failure) = action { return fail(TransportError(failure)) }
        self.exchange = nil
        let completion = exchange.complete(trailers: trailers)
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
