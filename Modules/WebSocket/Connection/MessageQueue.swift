internal import LinnetTransport
internal import NIOCore
internal import Synchronization

/// Passes messages from the connection's event loop to the task that reads them, with backpressure: the event loop stops reading
/// from the socket while the limits are reached.
final class MessageQueue: Sendable {
    typealias Answer = Result<WebSocketMessage?, WebSocketError>

    private struct State {
        var messages = CircularBuffer<WebSocketMessage>()
        var bytes = 0
        var isFull = false
        var end: Result<Void, WebSocketError>?
        var resumeReading: (@Sendable () -> Void)?
        /// The reader that waits, at most one.
        var readers = Waiters<Answer>()

        /// The next message or the end; nil while there is neither.
        mutating func take() -> Answer? {
            if let message = messages.popFirst() {
                bytes -= message.size
                return .success(message)
            }
            return end.map { $0.map { nil } }
        }
    }

    private static let mostBytes = 256 * 1024
    private static let mostMessages = 256

    private let state = Mutex(State())

    /// Sets what is called once the reader has taken all messages of a full queue.
    func whenRead(_ resumeReading: @escaping @Sendable () -> Void) {
        state.withLock { if $0.end == nil { $0.resumeReading = resumeReading } }
    }

    /// Whether nothing more should be read from the socket.
    var isFull: Bool { state.withLock { $0.isFull } }

    func push(_ message: WebSocketMessage) {
        let reader = state.withLock { state -> Waiters<Answer>.Waiter? in
            guard state.end == nil else { return nil }
            if let reader = state.readers.takeFirst() { return reader }
            state.messages.append(message)
            state.bytes += message.size
            state.isFull = state.isFull || state.bytes >= Self.mostBytes || state.messages.count >= Self.mostMessages
            return nil
        }
        reader?.resume(returning: .success(message))
    }

    /// Ends the messages. Only the first call has an effect.
    func finish(_ end: Result<Void, WebSocketError>) {
        let (readers, _) = state.withLock { state -> ([Waiters<Answer>.Waiter], (@Sendable () -> Void)?) in
            guard state.end == nil else { return ([], nil) }
            state.end = end
            return (state.readers.takeAll(), state.resumeReading.take())
        }
        for reader in readers { reader.resume(returning: end.map { nil }) }
    }

    /// The next message, or nil at the end of the closing handshake.
    func next() async throws(WebSocketError) -> WebSocketMessage? {
        let cancelled: @Sendable () -> Answer = { .failure(.cancelled) }
        let answer = await state.wait(in: { $1(&$0.readers) }, ifCancelled: cancelled) { state -> Answer? in
            state.take() ?? (state.readers.isEmpty ? nil : .failure(.secondReader))
        }
        let resumeReading = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.isFull, state.messages.isEmpty else { return nil }
            state.isFull = false
            return state.resumeReading
        }
        resumeReading?()
        return try answer.get()
    }
}

extension WebSocketMessage {
    /// The bytes of its payload.
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
