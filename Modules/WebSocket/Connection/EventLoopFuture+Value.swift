internal import LinnetTransport
internal import NIOCore
internal import Synchronization

extension EventLoopFuture where Value: Sendable {
    /// Waits for the value, at most until the task is cancelled.
    func value() async throws(WebSocketError) -> Value {
        let outcome = Outcome<Value>()
        whenComplete { outcome.complete($0.mapError { $0 as? WebSocketError ?? .connectionLost($0) }) }
        return try await outcome.wait().get()
    }
}

/// The outcome of a future, for one task that may leave before it.
private final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, WebSocketError>?
        var waiters = Waiters<Result<Value, WebSocketError>>()
    }

    private let state = Mutex(State())

    func complete(_ result: Result<Value, WebSocketError>) {
        let waiters = state.withLock { state in
            state.result = result
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }

    func wait() async -> Result<Value, WebSocketError> {
        await state.wait(in: \.waiters, ifCancelled: { .failure(.cancelled) }) { $0.result }
    }
}
