internal import NIOCore
internal import NIOWebSocket

/// A client's WebSocket on its event loop: passes messages to a ``MessageQueue``, answers Ping frames, sends its own,
/// and closes.
final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = WebSocketFrame

    let queue = MessageQueue()
    private let options: WebSocket.Options
    private var machine: WebSocketStateMachine
    private var context: ChannelHandlerContext?
    /// Reports the end of the closing handshake or of the connection.
    private let closure: Outcome<WebSocket.Closure>
    private var isReadPaused = false
    /// Whether a full queue dropped a message after our Close frame; later messages are then dropped as well.
    private var hasDropped = false
    /// Whether any bytes were received since the last Ping frame.
    private var hasReceived = false
    /// Whether a Pong frame waits for the socket. Until the socket has accepted it, only the latest Ping frame is kept
    /// (RFC 6455, section 5.5.3), so that a server that sends Ping frames without reading cannot fill memory.
    private var isPongWaiting = false
    private var nextPong: ByteBuffer?
    /// Whether a Ping frame waits for the socket.
    private var isPingWaiting = false
    private var pingTimer: Scheduled<Void>?
    private var pongTimer: Scheduled<Void>?
    private var closeTimer: Scheduled<Void>?

    init(
        _ options: WebSocket.Options, _ compression: DeflateExtension? = nil,
        closure: Outcome<WebSocket.Closure>
    ) {
        self.options = options
        self.closure = closure
        machine = WebSocketStateMachine(
            maximumMessageSize: options.maximumMessageSize, inflater: compression.flatMap { MessageInflater($0) })
    }

    // MARK: Calls

    /// Sends a message, and completes when the socket has accepted it.
    func send(
        _ opcode: WebSocketOpcode, _ payload: ByteBuffer, isCompressed: Bool = false, _ completion: Completion
    ) {
        guard machine.phase == .open, let context else { return completion.complete(.failure(WebSocketError.closed)) }
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { completion.complete($0) }
        write(opcode, payload, isCompressed: isCompressed, promise: promise)
    }

    /// Starts the closing handshake, unless it was started before.
    func close(_ code: WebSocket.CloseCode, reason: String) {
        guard machine.close() else { return }
        stopPinging()
        write(.connectionClose, WebSocketStateMachine.closePayload(code, reason: reason))
        armCloseTimer()
        resumeReading()
    }

    /// Continues reading after the reader has taken all messages, or when they are no longer awaited.
    func resumeReading() {
        guard handleInput(), isReadPaused else { return }
        isReadPaused = false
        context?.read()
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        queue.whenRead { handler.eventLoop.execute { handler.value.resumeReading() } }
        armPing()
        context.read()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(.connectionLost())
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        machine.append(unwrapInboundIn(data))
        handleInput()
    }

    /// Handles received bytes while there is room for messages; returns false without room. The rest stays in its
    /// received form, so that compressed messages need no more memory than their compressed size.
    @discardableResult
    private func handleInput() -> Bool {
        while machine.phase != .open || !queue.isFull {
            guard let action = machine.next() else { return true }
            handle(action)
        }
        return false
    }

    private func handle(_ action: WebSocketStateMachine.Action) {
        switch action {
        case .deliver(let message): deliver(message)
        case .pong(let payload): answerPing(payload)
        case .ponged: receivedPong()
        case .closed(let closure, let reply): closed(closure, reply: reply)
        case .fail(let error, let code): fail(error, code)
        }
    }

    /// After our Close frame, messages beyond the limits are dropped, because there may be no reader.
    private func deliver(_ message: WebSocket.Message) {
        hasDropped = hasDropped || (machine.phase != .open && queue.isFull)
        if !hasDropped { queue.push(message) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        hasReceived = true
        // Even if messages are not read, the peer's Close frame is awaited.
        isReadPaused = machine.phase == .open && queue.isFull
        if !isReadPaused { context.read() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.connectionLost())
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.connectionLost(error))
        context.close(promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { close(.goingAway, reason: "") }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Ends

    /// Handles the peer's Close frame. The server closes the connection (RFC 6455, section 7.1.1).
    private func closed(_ end: WebSocket.Closure, reply: ByteBuffer?) {
        if let reply { write(.connectionClose, reply) }
        finish(.success(()))
        closure.complete(.success(end))
        armCloseTimer()
    }

    /// Fails the connection (RFC 6455, section 7.1.7).
    private func fail(_ error: WebSocketError, _ code: WebSocket.CloseCode) {
        _ = machine.end()
        finish(.failure(error))
        closure.complete(.failure(error))
        write(.connectionClose, WebSocketStateMachine.closePayload(code, reason: ""))
        armCloseTimer()
    }

    /// Handles the end of the connection. Messages that were received before it are delivered first, even if the queue
    /// has no room for them now.
    private func end(_ error: WebSocketError) {
        closeTimer?.cancel()
        let isBehind = !handleInput() && machine.hasInput
        // A copy with the received bytes, which the machine drops at its end.
        let machine = machine
        guard self.machine.end() else { return }
        guard !isBehind else {
            stopPinging()
            return queue.finish(after: MessageQueue.Rest(machine, end: error, closure))
        }
        finish(.failure(error))
        closure.complete(.failure(error))
    }

    private func finish(_ end: Result<Void, WebSocketError>) {
        stopPinging()
        queue.finish(end)
    }

    /// Closes the connection if the server does not close it in time.
    private func armCloseTimer() {
        closeTimer?.cancel()
        closeTimer = schedule(in: options.closeTimeout) { handler in
            handler.end(WebSocketError(.connectionLost, "The server did not answer the Close frame in time."))
            handler.context?.close(promise: nil)
        }
    }

    // MARK: Ping and Pong frames

    private func answerPing(_ payload: ByteBuffer) {
        guard !isPongWaiting, let context else {
            nextPong = payload
            return
        }
        isPongWaiting = true
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenSuccess {
            self.isPongWaiting = false
            if let next = self.nextPong.take(), self.machine.phase == .open { self.answerPing(next) }
        }
        write(.pong, payload, promise: promise)
    }

    private func armPing() {
        pingTimer = options.pingInterval.flatMap { interval in schedule(in: interval) { $0.sendPing() } }
    }

    private func sendPing() {
        // While reading is paused, an answer could not be received.
        guard !isReadPaused else { return armPing() }
        guard let context else { return }
        hasReceived = false
        // The server cannot see a Ping frame behind a message that the socket has not accepted.
        isPingWaiting = true
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenSuccess {
            self.isPingWaiting = false
            guard self.machine.phase == .open else { return }
            self.pongTimer?.cancel()
            self.armPongTimer()
        }
        write(.ping, ByteBuffer(), promise: promise)
        if isPingWaiting, machine.phase == .open { watchSocket(from: bufferedBytes) }
    }

    /// The number of bytes that wait for the socket.
    private var bufferedBytes: Int? {
        context.flatMap { try? $0.channel.syncOptions?.getOption(.bufferedWritableBytes) }
    }

    /// Ends the connection if the socket accepts nothing and receives nothing during the time limit for an answer.
    private func watchSocket(from buffered: Int?, still: Int = 1) {
        pongTimer = schedule(in: options.pongTimeout / Self.looksAtSocket) { handler in
            guard handler.isPingWaiting else { return }
            let now = handler.bufferedBytes
            let isStill = !handler.isReadPaused && !handler.hasReceived && now == buffered
            handler.hasReceived = false
            guard isStill, still == Self.looksAtSocket else {
                return handler.watchSocket(from: now, still: isStill ? still + 1 : 1)
            }
            handler.endWithoutPong()
        }
    }

    /// The number of looks at the socket during the time limit. A single look is not enough, because the number of
    /// waiting bytes can be the same by chance.
    private static let looksAtSocket = 4

    private func armPongTimer() {
        pongTimer = schedule(in: options.pongTimeout) { handler in
            // Even a part of a long frame shows that the server is alive.
            guard !handler.isReadPaused, !handler.hasReceived else {
                handler.hasReceived = false
                return handler.armPongTimer()
            }
            handler.endWithoutPong()
        }
    }

    private func endWithoutPong() {
        end(WebSocketError(.pongTimeout, "The server did not answer a Ping frame in time."))
        context?.close(promise: nil)
    }

    private func receivedPong() {
        guard !isPingWaiting, let timer = pongTimer.take(), machine.phase == .open else { return }
        timer.cancel()
        armPing()
    }

    private func stopPinging() {
        pingTimer?.cancel()
        pongTimer?.cancel()
        (pingTimer, pongTimer) = (nil, nil)
    }

    // MARK: Tools

    private func write(
        _ opcode: WebSocketOpcode, _ payload: ByteBuffer, isCompressed: Bool = false,
        promise: EventLoopPromise<Void>? = nil
    ) {
        let frame = WebSocketFrame(
            fin: true, rsv1: isCompressed, opcode: opcode, maskKey: .random(), data: payload)
        context?.writeAndFlush(wrapOutboundOut(frame), promise: promise)
    }

    private func schedule(
        in time: Duration, _ body: @escaping @Sendable (WebSocketHandler) -> Void
    ) -> Scheduled<Void>? {
        guard let context else { return nil }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        return context.eventLoop.scheduleTask(in: TimeAmount(time)) { body(handler.value) }
    }
}
