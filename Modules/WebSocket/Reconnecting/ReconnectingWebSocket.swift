public import FoundationEssentials
internal import LinnetSession
internal import Synchronization

/// A WebSocket that is opened again after a lost connection; see `HTTPCall.reconnectingWebSocket(_:)`.
///
/// It is a sequence of events, and its reader does the work: asking for the first event opens the connection, and
/// asking for the event after ``ReconnectingWebSocket/Event/disconnected(_:retryAfter:)`` opens it again, after a
/// delay. Nothing runs in the background.
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
/// The sequence ends after ``close(_:reason:)``, and when the server closes with 1000 or without a code. If
/// ``ReconnectingWebSocket/Options`` allow no further attempt, it throws a ``WebSocketError``: for other codes of a
/// Close frame, violations of the protocol, refused certificates, statuses such as 401 and 403, a session that was shut
/// down, and the last of too many errors.
///
/// One task reads events, and any number of tasks send. Leaving a loop, or cancelling its task, keeps the connection,
/// and another loop can follow. Releasing the WebSocket closes its connection.
public final class ReconnectingWebSocket: AsyncSequence, Sendable {
    /// The events of the WebSocket.
    public typealias Element = Event
    /// The type of the errors.
    public typealias Failure = WebSocketError

    private struct Connection: Sendable {
        let socket: WebSocket
        /// The time since it was opened.
        let age: @Sendable () -> Duration
    }

    private struct State {
        var machine: ReconnectStateMachine<Connection>
        /// Ends the reader's wait for a delay or an opening handshake.
        var interrupt: (@Sendable () -> Void)?
    }

    private let call: HTTPCall
    private let options: Options
    private let state: Mutex<State>

    init(_ call: HTTPCall, _ options: Options) {
        self.call = call
        self.options = options
        state = Mutex(State(machine: ReconnectStateMachine(options)))
    }

    // MARK: Sending

    /// Sends a text on the current connection, and returns when the socket has accepted all of it. Messages do not wait
    /// for a connection, and are not sent again on the next one: an accepted message is lost with the connection unless
    /// the server has read it, and only an answer proves that.
    ///
    /// - Throws: ``WebSocketError/Code/notConnected`` while there is no connection, ``WebSocketError/Code/closed``
    ///   after the end, or the errors of ``WebSocket/send(_:)-(String)``.
    public func send(_ text: String) async throws(WebSocketError) {
        try await send { (socket) throws(WebSocketError) in try await socket.send(text) }
    }

    /// Sends bytes as a binary message; see ``send(_:)-(String)``.
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

    /// Closes the WebSocket like ``WebSocket/close(_:reason:)``, and ends its events: it interrupts a delay or an
    /// opening handshake, and no further connection is opened.
    ///
    /// - Parameters:
    ///   - code: The code to send. The default is ``WebSocket/CloseCode/normalClosure``.
    ///   - reason: The reason to send, at most 123 bytes of UTF-8. The default is empty.
    /// - Returns: The server's code and reason; nil if there was no connection.
    /// - Throws: ``WebSocketError/Code/invalidClosure``, which changes nothing, and
    ///   ``WebSocketError/Code/connectionLost`` without an answer.
    @discardableResult
    public func close(
        _ code: WebSocket.CloseCode = .normalClosure, reason: String = ""
    ) async throws(WebSocketError) -> WebSocket.Closure? {
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
        public mutating func next() async throws(WebSocketError) -> Event? {
            try await socket.next()
        }

        /// The next event, or nil at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(WebSocketError) -> Event? {
            try await socket.next()
        }
    }

    private func next() async throws(WebSocketError) -> Event? {
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

    private func read(_ connection: Connection) async throws(WebSocketError) -> Event? {
        let failure: WebSocketError
        do throws(WebSocketError) {
            if let message = try await connection.socket.queue.next() {
                state.withLock { $0.machine.received() }
                return .message(message)
            }
            // The messages ended, so the closing handshake is over.
            failure = .closed(by: try await connection.socket.close())
        } catch {
            guard error.code != .cancelled else { throw error }
            failure = error
        }
        return try end(failure, lifetime: connection.age())
    }

    private func open(after delay: Duration) async throws(WebSocketError) -> Event? {
        let opening = await interruptible { [call, options] in await options.open(call, after: delay) }
        do throws(SessionError) {
            let socket = try opening.get()
            let connection = Connection(socket: socket, age: stopwatch(options.clock))
            guard state.withLock({ $0.machine.opened(connection) }) else { return nil }
            return .connected(socket.response)
        } catch {
            let isClosed = state.withLock { $0.machine.isClosed }
            // `close(_:reason:)` cancels the attempt, too, and then ends the events without an error.
            if error.code == .cancelled, !isClosed { throw .cancelled }
            return try end(.openingFailed(error), lifetime: .zero)
        }
    }

    private func end(
        _ error: WebSocketError, lifetime: Duration
    ) throws(WebSocketError) -> Event? {
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
        // It was closed before the task was known.
        if isOver { task.cancel() }
        defer { state.withLock { $0.interrupt = nil } }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

extension ReconnectingWebSocket.Options {
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
