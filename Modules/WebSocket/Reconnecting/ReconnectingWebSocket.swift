public import FoundationEssentials
internal import LinnetSession
internal import Synchronization

/// A WebSocket that is opened again after its connection was lost; see `HTTPCall.reconnectingWebSocket(_:)`.
///
/// It is a sequence of events, and its reader does the work: the connection is opened when the first event is asked for, and opened
/// again, after a delay, when the one after ``ReconnectingWebSocketEvent/disconnected(_:retryAfter:)`` is. Nothing runs in the background.
///
/// ```swift
/// let chat = api.get("chat").reconnectingWebSocket()
/// for try await event in chat {
///     switch event {
///     case .connected: try await chat.send("subscribe finches")
///     case .message(let message): print(message)
///     case .disconnected(let error, let delay): print("\(error) Again in \(delay).")
///     }
/// }
/// ```
/// The sequence ends after ``close(_:reason:)``, and when the server closes with 1000 or without a code. It throws a
/// ``WebSocketError`` for anything else that ``ReconnectingWebSocketOptions`` does not follow with another attempt: other codes of a Close
/// frame, violations of the protocol, refused certificates, statuses such as 401 and 403, a session that is shut down, and the
/// last error once there were too many.
///
/// One task reads events, any number of them send. A loop that is left, or whose task is cancelled, keeps the connection, and can be
/// followed by another loop. Releasing the WebSocket closes its connection.
public final class ReconnectingWebSocket: AsyncSequence, Sendable {
    /// What happened.
    public typealias Element = ReconnectingWebSocketEvent
    /// A ``WebSocketError``.
    public typealias Failure = WebSocketError

    private struct Connection: Sendable {
        let socket: WebSocket
        /// How long it has been open.
        let age: @Sendable () -> Duration
    }

    private struct State {
        var machine: ReconnectStateMachine<Connection>
        /// Ends the delay or the opening handshake that the reader waits for.
        var interrupt: (@Sendable () -> Void)?
    }

    private let call: HTTPCall
    private let options: ReconnectingWebSocketOptions
    private let state: Mutex<State>

    init(_ call: HTTPCall, _ options: ReconnectingWebSocketOptions) {
        self.call = call
        self.options = options
        state = Mutex(State(machine: ReconnectStateMachine(options)))
    }

    // MARK: Sending

    /// Sends a text on the current connection, and returns when the socket has accepted all of it. Messages do not wait for a connection, and
    /// are not sent again on the next one: a message that the socket accepted is lost with the connection unless the server has
    /// read it, which only an answer shows.
    ///
    /// - Throws: ``WebSocketError/Code/notConnected`` while there is no connection, ``WebSocketError/Code/closed`` after the end, or as
    ///   ``WebSocket/send(_:)-(String)``.
    public func send(_ text: String) async throws(WebSocketError) {
        try await send { (socket) throws(WebSocketError) in try await socket.send(text) }
    }

    /// Sends bytes as a binary message, as ``send(_:)-(String)`` does.
    public func send(_ bytes: Data) async throws(WebSocketError) {
        try await send { (socket) throws(WebSocketError) in try await socket.send(bytes) }
    }

    private func send(_ body: (WebSocket) async throws(WebSocketError) -> Void) async throws(WebSocketError) {
        let connection = try state.withLock { (state) throws(WebSocketError) in try state.machine.connection() }
        do throws(WebSocketError) {
            try await body(connection.socket)
        } catch {
            // The reader may not have learned yet that the connection has ended.
            let isOver = state.withLock { $0.machine.isOver }
            throw error.code == .closed && !isOver ? .notConnected : error
        }
    }

    // MARK: End

    /// Closes the WebSocket as ``WebSocket/close(_:reason:)`` does, and ends its events: a delay or an opening handshake is
    /// interrupted, and no connection is opened any more.
    ///
    /// - Parameters:
    ///   - code: The code to send. The default is ``WebSocketCloseCode/normalClosure``.
    ///   - reason: The reason to send, at most 123 bytes of UTF-8. The default is empty.
    /// - Returns: The server's code and reason; nil if there was no connection.
    /// - Throws: ``WebSocketError/Code/invalidClosure``, after which nothing has changed, and ``WebSocketError/Code/connectionLost``
    ///   without an answer.
    @discardableResult
    public func close(
        _ code: WebSocketCloseCode = .normalClosure, reason: String = ""
    ) async throws(WebSocketError) -> WebSocketClosure? {
        try code.verifySendable(with: reason)
        let (connection, interrupt) = state.withLock { ($0.machine.close(), $0.interrupt) }
        interrupt?()
        return try await connection?.socket.close(code, reason: reason)
    }

    // MARK: Reading

    /// Makes a reader.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: self) }

    /// Reads events, and reconnects.
    public struct Iterator: AsyncIteratorProtocol {
        let socket: ReconnectingWebSocket

        /// The next event, or nil at the end.
        public mutating func next() async throws(WebSocketError) -> ReconnectingWebSocketEvent? {
            try await socket.next()
        }

        /// The next event, or nil at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(WebSocketError) -> ReconnectingWebSocketEvent? {
            try await socket.next()
        }
    }

    private func next() async throws(WebSocketError) -> ReconnectingWebSocketEvent? {
        let step = try state.withLock { (state) throws(WebSocketError) in try state.machine.beginReading() }
        defer { state.withLock { $0.machine.endReading() } }
        switch step {
        case .read(let connection): return try await read(connection)
        case .open(let delay): return try await open(after: delay)
        case .finish(let end):
            try end.get()
            return nil
        }
    }

    private func read(_ connection: Connection) async throws(WebSocketError) -> ReconnectingWebSocketEvent? {
        let failure: WebSocketError
        do throws(WebSocketError) {
            if let message = try await connection.socket.queue.next() {
                state.withLock { $0.machine.received() }
                return .message(message)
            }
            // The closing handshake is over.
            failure = .closed(by: try await connection.socket.close())
        } catch {
            guard error.code != .cancelled else { throw error }
            failure = error
        }
        return try end(failure, lifetime: connection.age())
    }

    private func open(after delay: Duration) async throws(WebSocketError) -> ReconnectingWebSocketEvent? {
        let opening = await interruptible { [call, options] in await options.open(call, after: delay) }
        do throws(SessionError) {
            let socket = try opening.get()
            let connection = Connection(socket: socket, age: stopwatch(options.clock))
            guard state.withLock({ $0.machine.opened(connection) }) else { return nil }
            return .connected(socket.response)
        } catch {
            let isClosed = state.withLock { $0.machine.isClosed }
            if error.code == .cancelled, !isClosed { throw .cancelled }
            return try end(.openingFailed(error), lifetime: .zero)
        }
    }

    private func end(
        _ error: WebSocketError, lifetime: Duration
    ) throws(WebSocketError) -> ReconnectingWebSocketEvent? {
        let (delay, end) = state.withLock { ($0.machine.failed(error, lifetime: lifetime), $0.machine.end) }
        if let delay { return .disconnected(error, retryAfter: delay) }
        try end?.get()
        return nil
    }

    /// Runs an operation in a task that ``close(_:reason:)`` cancels, and waits for its end.
    private func interruptible<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) async -> Value {
        let task = Task { await operation() }
        let isOver = state.withLock { state in
            state.interrupt = { task.cancel() }
            return state.machine.isOver
        }
        if isOver { task.cancel() }
        defer { state.withLock { $0.interrupt = nil } }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

extension ReconnectingWebSocketOptions {
    fileprivate func open(_ call: HTTPCall, after delay: Duration) async -> Result<WebSocket, SessionError> {
        do {
            if delay > .zero { try await clock.sleep(for: delay) }
        } catch {
            return .failure(SessionError(.cancelled, "The task was cancelled before the WebSocket was opened again."))
        }
        do {
            return .success(try await call.webSocket { $0 = webSocket })
        } catch {
            return .failure(error)
        }
    }
}

/// Starts to measure time with a clock.
private func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}
