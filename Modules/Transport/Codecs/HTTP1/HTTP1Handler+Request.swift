internal import NIOCore

/// Sending: the head, and the body as the socket accepts it.
extension HTTP1Handler: ExchangeHost {
    /// The socket accepts heads up to this size at once, because an idle connection has nothing else to send.
    private static let mostBytesOfSmallHead = 16_384
    /// Bodies up to this size are written together with the head.
    private static let mostBytesWithHead = 4096
    /// The capacity of the output buffer that a connection keeps.
    private static let mostBytesKept = 16_384
    private static let mostSlicesInARow = 8

    /// Whether part of the request remains to be sent after the head was written: a body, or the rest of a large head.
    func isSentInParts(_ request: TransportRequest) -> Bool {
        request.body != nil || output.readableBytes > Self.mostBytesOfSmallHead
    }

    /// Writes the head in `output` and the part of the body that can follow it immediately.
    func write(
        body: TransportRequestBody?, waitsForContinue: Bool, _ exchange: HTTPExchange, _ context: ChannelHandlerContext
    ) {
        switch body {
        case nil where machine.requestPhase == .sendingBody:
            writeOutput(context, endPromise(of: exchange, context))
        case nil:
            exchange.bodyEnded()
            writeOutput(context)
        case .bytes(let bytes) where !waitsForContinue && bytes.readableBytes == 0:
            writeOutput(context)
            requestEnded(exchange)
        case .bytes(var bytes) where !waitsForContinue && bytes.readableBytes <= Self.mostBytesWithHead:
            let promise = slicePromise(bytes.readableBytes, of: exchange, context)
            output.writeBuffer(&bytes)
            writeOutput(context, promise)
        case .some where waitsForContinue:
            exchange.deadlines.proceed = .after(continueTimeout)
            writeOutput(context)
        case .some(let body):
            // Flushed with the first bytes of the body, which saves a system call.
            context.write(wrapOutboundOut(output), promise: nil)
            send(body, of: exchange, context)
        }
    }

    private func writeOutput(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil) {
        context.writeAndFlush(wrapOutboundOut(output), promise: promise)
        if output.capacity > Self.mostBytesKept { output = ByteBuffer() }
    }

    /// Sends the body after `100 Continue` or the timeout.
    func sendAwaitedBody(_ exchange: HTTPExchange, _ context: ChannelHandlerContext) {
        exchange.deadlines.proceed = nil
        if let body = exchange.request.body { send(body, of: exchange, context) }
    }

    private func send(_ body: TransportRequestBody, of exchange: HTTPExchange, _ context: ChannelHandlerContext) {
        switch body {
        case .bytes(let buffer) where buffer.readableBytes == 0:
            context.flush()
            requestEnded(exchange)
        case .bytes(let buffer):
            write(buffer, of: exchange)
        case .stream(let length, _, let make):
            context.flush()
            exchange.pumpBody(length: length, make: make, into: self, on: context.eventLoop)
        }
    }

    // MARK: Slices

    func sendChunk(_ chunk: ByteBuffer, of exchange: HTTPExchange, _ done: @escaping @Sendable (Bool) -> Void) {
        write(chunk, of: exchange, done)
    }

    /// Writes bytes of the body in slices, each after the socket has accepted the previous one.
    private func write(_ bytes: ByteBuffer, of exchange: HTTPExchange, _ done: (@Sendable (Bool) -> Void)? = nil) {
        guard self.exchange === exchange, machine.requestPhase == .sendingBody, let context else {
            done?(false)
            return
        }
        var rest = bytes
        let slice = rest.readSlice(length: min(rest.readableBytes, sliceSize.bytes)) ?? ByteBuffer()
        let promise = slicePromise(slice.readableBytes, of: exchange, context, rest: rest, done)
        if bodyBytesLeft == nil {
            let size = String(slice.readableBytes, radix: 16)
            context.write(wrapOutboundOut(ByteBuffer(string: size + "\r\n")), promise: nil)
            context.write(wrapOutboundOut(slice), promise: nil)
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "\r\n")), promise: promise)
        } else {
            context.writeAndFlush(wrapOutboundOut(slice), promise: promise)
        }
        if exchange.writesInFlight > 0, context.channel.isActive { exchange.watchDelivery(probe) }
        armWatchdog()
    }

    /// The promise of a slice; the rest is written when it succeeds.
    private func slicePromise(
        _ count: Int, of exchange: HTTPExchange, _ context: ChannelHandlerContext, rest: ByteBuffer = ByteBuffer(),
        _ done: (@Sendable (Bool) -> Void)? = nil
    ) -> EventLoopPromise<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        let start = NIODeadline.now()
        exchange.willSendBody()
        promise.futureResult.assumeIsolated().whenComplete { result in
            guard case .success = result else {
                done?(false)
                return
            }
            // Small writes do not indicate the speed of the socket.
            if count == self.sliceSize.bytes { self.sliceSize.took(.now() - start) }
            self.sent(count, of: exchange)
            if rest.readableBytes > 0 { return self.goOn(with: rest, of: exchange, done) }
            done?(true)
        }
        return promise
    }

    /// Writes the rest. After several slices in a row, the event loop's other connections get a turn.
    private func goOn(with rest: ByteBuffer, of exchange: HTTPExchange, _ done: (@Sendable (Bool) -> Void)?) {
        slicesInARow += 1
        guard slicesInARow >= Self.mostSlicesInARow, let context else { return write(rest, of: exchange, done) }
        slicesInARow = 0
        context.eventLoop.assumeIsolated().execute { self.write(rest, of: exchange, done) }
    }

    /// Called when the socket has accepted bytes of the body. A body of known length ends with its last byte even if
    /// its reader has not returned nil yet, since the response may arrive first.
    private func sent(_ count: Int, of exchange: HTTPExchange) {
        exchange.didSendBody(bytes: count)
        guard self.exchange === exchange, let left = bodyBytesLeft else { return }
        bodyBytesLeft = left - Int64(count)
        if left == count { requestEnded(exchange) }
    }

    // MARK: End of the request

    func endBody(of exchange: HTTPExchange, _ error: TransportError?) {
        guard self.exchange === exchange, machine.requestPhase != .abandoned, let context else { return }
        if let error { return fail(error) }
        // A body of known length ends with its last byte.
        guard bodyBytesLeft == nil, machine.requestPhase == .sendingBody else { return requestEnded(exchange) }
        let promise = endPromise(of: exchange, context)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "0\r\n\r\n")), promise: promise)
        armWatchdog()
    }

    /// The promise of the request's last write, if that is not part of its body.
    private func endPromise(of exchange: HTTPExchange, _ context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenSuccess {
            if self.exchange === exchange { self.requestEnded(exchange) }
        }
        exchange.armWriteDeadline()
        return promise
    }

    /// Called when the socket has accepted the request's last byte.
    private func requestEnded(_ exchange: HTTPExchange) {
        let action = machine.requestBodyEnded()
        exchange.bodyEnded(context?.channel.isActive == true ? probe : nil)
        if let action { return end(exchange, action, exchange.heldEnd?.trailers) }
        armWatchdog()
    }
}
