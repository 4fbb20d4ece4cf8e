internal import LinnetMessages
internal import LinnetTransport
internal import Synchronization

/// The outcome of work on the event loop. Tasks wait for it, and may stop waiting. It needs no event loop.
final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, WebSocketError>?
        var waiters = Waiters<Result<Value, WebSocketError>>()
    }

    private let state = Mutex(State())

    /// Sets the result. Only the first call has an effect.
    func complete(_ result: Result<Value, WebSocketError>) {
        let waiters = state.withLock { state -> [Waiters<Result<Value, WebSocketError>>.Waiter] in
            guard state.result == nil else { return [] }
            state.result = result
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }

    /// The result, if it is set.
    var result: Result<Value, WebSocketError>? { state.withLock { $0.result } }

    /// Waits for the result or the cancellation of the task.
    func value() async throws(WebSocketError) -> Value {
        try await state.wait(in: { $1(&$0.waiters) }, ifCancelled: { .failure(.cancelled) }) { $0.result }.get()
    }
}

/// The event loop's part of the ``Outcome`` of a sent message. An event loop that has ended drops its work and thereby
/// this object, and the outcome is then a failure.
final class Completion: Sendable {
    let outcome = Outcome<Void>()

    deinit {
        if outcome.result == nil { outcome.complete(.failure(.closed)) }
    }

    func complete(_ result: Result<Void, any Error>) {
        outcome.complete(result.mapError { $0 as? WebSocketError ?? .connectionLost($0) })
    }
}
