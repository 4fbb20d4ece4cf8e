internal import Dispatch
internal import LinnetMessages
internal import LinnetOAuth
internal import Synchronization

/// Makes the accesses to the service, one after the other, on a thread that may block.
enum SecretServiceThread {
    private static let queue = DispatchQueue(label: "linnet.secret-service")
    /// A clock ends the process when a sleep is longer than it can count.
    private static let longestWait = Duration.seconds(1_000_000_000)

    /// Makes an access, with its wait for the ones before it.
    ///
    /// - Throws: The error of the access, `timeout` after the limit, and `cancelled` if the task of the caller is
    ///   cancelled. An access that was stopped may still change the service.
    static func perform<Value: Sendable>(
        within limit: Duration, _ access: @escaping @Sendable (SecretServiceStop) throws(OAuthError) -> Value
    ) async throws(OAuthError) -> Value {
        let errand = SecretServiceErrand<Value>()
        queue.async { errand.run(access) }
        let timer = Task {
            try await Task.sleep(for: min(limit, longestWait))
            errand.end(with: OAuthError(.timeout, "The Secret Service did not answer within \(limit)."))
        }
        defer { timer.cancel() }
        return try await errand.result().get()
    }
}

/// One access, whose result comes from the thread or, earlier, from what stops it.
private final class SecretServiceErrand<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, OAuthError>?
        var waiters = Waiters<Result<Value, OAuthError>>()
    }

    private let state = Mutex(State())
    private let stop = SecretServiceStop()

    func run(_ access: (SecretServiceStop) throws(OAuthError) -> Value) {
        // The caller may have left while others were before it.
        guard state.withLock({ $0.result == nil }) else { return }
        do throws(OAuthError) {
            finish(.success(try access(stop)))
        } catch {
            finish(.failure(error))
        }
    }

    func end(with error: OAuthError) {
        finish(.failure(error))
        stop.end(with: error)
    }

    func result() async -> Result<Value, OAuthError> {
        await withTaskCancellationHandler {
            await state.wait(in: { $1(&$0.waiters) }, ifCancelled: nil) { $0.result }
        } onCancel: {
            end(with: .cancelled)
        }
    }

    /// Takes the first result.
    private func finish(_ result: Result<Value, OAuthError>) {
        let waiters = state.withLock { state -> [Waiters<Result<Value, OAuthError>>.Waiter] in
            guard state.result == nil else { return [] }
            state.result = result
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.resume(returning: result) }
    }
}
