internal import LinnetMessages
internal import LinnetTransport
internal import NIOCore
internal import Synchronization

/// Passes messages from the connection's event loop to the task that reads them, with backpressure: the event loop
/// stops reading from the socket while the limits are reached.
final class MessageQueue: Sendable {
    typealias Answer = Result<WebSocket.Message?, WebSocketError>

    private struct State {
        var messages = CircularBuffer<WebSocket.Message>()
        var bytes = 0
        var isFull = false
        var end: Result<Void, WebSocketError>?
        /// The unprocessed input after the messages; nil unless the connection has ended.
        var rest: Rest?
        /// Whether the end is awaited, so that messages beyond the limits are dropped.
        var isClosing = false
        /// The end of the rest, and the waiters for it.
        var settled: Settled?
        var resumeReading: (@Sendable () -> Void)?
        /// The waiting reader, at most one.
        var readers = Waiters<Answer>()

        /// Takes the next message or the end; nil while there is neither.
        mutating func take() -> Answer? {
            if let message = messages.popFirst() {
                bytes -= message.size
                return .success(message)
            }
            if let message = takeFromRest() { return .success(message) }
            return end.map { $0.map { nil } }
        }

        /// Takes the next message of the rest; nil after its end, which ends the messages.
        private mutating func takeFromRest() -> WebSocket.Message? {
            switch rest?.next() {
            case nil: return nil
            case .message(let message): return message
            case .end(let closure):
                end = closure.map { _ in }
                settled = rest.map { Settled(outcome: $0.closure, result: closure) }
                rest = nil
                return nil
            }
        }

        mutating func append(_ message: WebSocket.Message) {
            messages.append(message)
            bytes += message.size
            isFull = isFull || bytes >= MessageQueue.mostBytes || messages.count >= MessageQueue.mostMessages
        }

        /// Reads the rest to its end, and keeps as many messages as fit.
        mutating func settle() {
            while let message = takeFromRest() { if !isFull { append(message) } }
        }
    }

    /// The end of a connection, and its waiters.
    private struct Settled {
        let outcome: Outcome<WebSocket.Closure>
        let result: Result<WebSocket.Closure, WebSocketError>

        func tell() { outcome.complete(result) }
    }

    fileprivate static let mostBytes = 256 * 1024
    fileprivate static let mostMessages = 256

    private let state = Mutex(State())

    /// Sets the function to call after the reader has taken all messages of a full queue.
    func whenRead(_ resumeReading: @escaping @Sendable () -> Void) {
        state.withLock { if $0.end == nil { $0.resumeReading = resumeReading } }
    }

    /// Whether nothing more should be read from the socket.
    var isFull: Bool { state.withLock { $0.isFull } }

    func push(_ message: WebSocket.Message) {
        let reader = state.withLock { state -> Waiters<Answer>.Waiter? in
            guard state.end == nil else { return nil }
            if let reader = state.readers.takeFirst() { return reader }
            state.append(message)
            return nil
        }
        reader?.resume(returning: .success(message))
    }

    /// Ends the messages. Only the first call has an effect.
    func finish(_ end: Result<Void, WebSocketError>) {
        let (readers, resumeReading) = state.withLock { state -> ([Waiters<Answer>.Waiter], (@Sendable () -> Void)?) in
            guard state.end == nil else { return ([], nil) }
            (state.end, state.rest) = (end, nil)
            return (state.readers.takeAll(), state.resumeReading.take())
        }
        for reader in readers { reader.resume(returning: end.map { nil }) }
        // Released after unlocking, with the handler that it refers to.
        withExtendedLifetime(resumeReading) {}
    }

    /// Ends the messages after the rest of a connection that has ended.
    func finish(after rest: Rest) {
        typealias Action = (
            resumed: (Waiters<Answer>.Waiter, Answer)?, settled: Settled?, resumeReading: (@Sendable () -> Void)?
        )
        let action = state.withLock { state -> Action in
            guard state.end == nil else { return (nil, nil, nil) }
            state.rest = rest
            if state.isClosing { state.settle() }
            var resumed: (Waiters<Answer>.Waiter, Answer)?
            if let reader = state.readers.takeFirst(), let answer = state.take() { resumed = (reader, answer) }
            return (resumed, state.settled.take(), state.resumeReading.take())
        }
        action.settled?.tell()
        if let (reader, answer) = action.resumed { reader.resume(returning: answer) }
        withExtendedLifetime(action.resumeReading) {}
    }

    /// Finds the end of a connection before the messages up to it are read. Drops messages beyond the limits.
    func settle() {
        let settled = state.withLock { state in
            state.isClosing = true
            state.settle()
            return state.settled.take()
        }
        settled?.tell()
    }

    /// The next message, or nil at the end of the closing handshake.
    func next() async throws(WebSocketError) -> WebSocket.Message? {
        let cancelled: @Sendable () -> Answer = { .failure(.cancelled) }
        let answer = await state.wait(in: { $1(&$0.readers) }, ifCancelled: cancelled) { state -> Answer? in
            state.take() ?? (state.readers.isEmpty ? nil : .failure(.secondReader))
        }
        let (resumeReading, settled) = state.withLock { state -> ((@Sendable () -> Void)?, Settled?) in
            let settled = state.settled.take()
            guard state.isFull, state.messages.isEmpty else { return (nil, settled) }
            state.isFull = false
            return (state.resumeReading, settled)
        }
        settled?.tell()
        resumeReading?()
        return try answer.get()
    }
}

extension MessageQueue {
    /// The input of an ended connection for which the queue had no room.
    struct Rest: Sendable {
        enum Step {
            case message(WebSocket.Message)
            case end(Result<WebSocket.Closure, WebSocketError>)
        }

        private var machine: WebSocketStateMachine
        private let error: WebSocketError
        /// Reports the end when it is known.
        let closure: Outcome<WebSocket.Closure>

        /// - Parameters:
        ///   - machine: The machine with the received bytes.
        ///   - error: The end of the connection, unless the bytes contain another one.
        ///   - closure: Receives the end.
        init(_ machine: WebSocketStateMachine, end error: WebSocketError, _ closure: Outcome<WebSocket.Closure>) {
            (self.machine, self.error, self.closure) = (machine, error, closure)
        }

        mutating func next() -> Step {
            while let action = machine.next() {
                switch action {
                case .deliver(let message): return .message(message)
                case .closed(let closure, _): return .end(.success(closure))
                case .fail(let error, _): return .end(.failure(error))
                case .pong, .ponged: continue
                }
            }
            return .end(.failure(error))
        }
    }
}

extension WebSocket.Message {
    /// The bytes of its payload.
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
