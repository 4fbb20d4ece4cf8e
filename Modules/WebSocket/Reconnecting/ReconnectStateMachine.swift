internal import LinnetSession

/// The state of a ``ReconnectingWebSocket``: its connection, the attempts that failed, and its end. Pure: each event
/// returns an action.
struct ReconnectStateMachine<Socket: Sendable>: Sendable {
    /// The next step of the reader.
    enum Step {
        case read(Socket)
        case open(after: Duration)
        case finish(Result<Void, WebSocketError>)
    }

    private enum Phase {
        case disconnected(delay: Duration)
        case connected(Socket)
        case over(Result<Void, WebSocketError>)
    }

    private let options: ReconnectingWebSocket.Options
    private var phase = Phase.disconnected(delay: .zero)
    private var hasReader = false
    /// Whether the caller has closed it; a connection may still be open.
    private(set) var isClosed = false
    /// The number of consecutive failed attempts.
    private var failures = 0

    init(_ options: ReconnectingWebSocket.Options) { self.options = options }

    /// The connection to send on.
    func connection() throws(WebSocketError) -> Socket {
        if case .connected(let socket) = phase { return socket }
        throw isOver ? .closed : .notConnected
    }

    /// Whether no further connection is opened.
    var isOver: Bool { if case .over = phase { true } else { isClosed } }

    // MARK: The reader

    /// Begins to read the next event for a task. ``endReading()`` must follow.
    mutating func beginReading() throws(WebSocketError) -> Step {
        guard !hasReader else { throw .secondReader }
        hasReader = true
        switch phase {
        case .disconnected(let delay): return .open(after: delay)
        case .connected(let socket): return .read(socket)
        case .over(let end): return .finish(end)
        }
    }

    mutating func endReading() { hasReader = false }

    /// Takes an opened connection. Returns false if it is no longer wanted.
    mutating func opened(_ socket: Socket) -> Bool {
        guard !isOver else { return false }
        phase = .connected(socket)
        return true
    }

    mutating func received() { failures = 0 }

    /// Records that the connection ended or could not be opened. Returns the delay before the next attempt; nil if this
    /// is the end.
    ///
    /// - Parameters:
    ///   - error: The cause.
    ///   - lifetime: The duration of the connection; zero if it was not opened.
    mutating func failed(_ error: WebSocketError, lifetime: Duration) -> Duration? {
        if case .over = phase { return nil }
        guard !isClosed else {
            phase = .over(.success(()))
            return nil
        }
        // An attempt that opened nothing never resets the count, even with a maximum of zero; without a limit, the
        // count could overflow.
        failures = lifetime > .zero && lifetime >= options.retryPolicy.backoff.maximum ? 1 : min(failures, .max - 1) + 1
        let delay = options.delay(after: failures, error)
        phase = delay.map { .disconnected(delay: $0) } ?? .over(error.isOrderlyEnd ? .success(()) : .failure(error))
        return delay
    }

    /// The end of the events; nil before it.
    var end: Result<Void, WebSocketError>? { if case .over(let end) = phase { end } else { nil } }

    // MARK: The caller

    /// Closes for the caller. Returns the connection to close, if any.
    mutating func close() -> Socket? {
        isClosed = true
        switch phase {
        case .connected(let socket): return socket
        case .disconnected: phase = .over(.success(()))
        case .over: break
        }
        return nil
    }
}

extension WebSocketError {
    /// Whether the server closed the connection with 1000 or without a code.
    fileprivate var isOrderlyEnd: Bool {
        closure.map { $0.code == .normalClosure || $0.code == .noStatusReceived } ?? false
    }
}
