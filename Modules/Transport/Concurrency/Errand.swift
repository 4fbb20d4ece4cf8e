internal import Synchronization

/// Runs user code, and stops waiting for it when the caller's task is cancelled.
///
/// The code runs in a separate task, which inherits the priority and the task-local values of the caller's. Cancelling
/// the caller's task cancels the code's task, and ends the wait with `CancellationError`, whatever the code does: its
/// late result is released. The code is not called if the caller is cancelled already.
///
/// - Parameter executor: The executor of the code. The default is the global concurrent executor.
package func untilCancelled<Value: Sendable>(
    on executor: (any TaskExecutor)? = nil, _ code: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await Errand().run(on: executor, code)
}

/// User code that runs on behalf of a task, which stops waiting for it when it is cancelled; see
/// ``untilCancelled(on:_:)``.
///
/// The code may call back; for example, an interceptor sends its request on. If the code's task is cancelled, such a
/// call below it is cancelled too and ends soon, and its failure says more than that the task was cancelled. So the
/// wait includes such calls.
package final class Errand<Value: Sendable>: Sendable {
    private typealias Outcome = Result<Value, any Error>

    private struct State {
        var isCancelled = false
        /// The caller; nil before the start and after the end.
        var waiter: CheckedContinuation<Outcome, Never>?
        var isOver = false
        /// The code's task until the end.
        var task: Task<Void, Never>?
        var lastCall = 0
        /// The calls that were told of the cancellation, and have not ended.
        var toldCalls: Set<Int> = []

        mutating func end() -> CheckedContinuation<Outcome, Never>? {
            guard let waiter else { return nil }
            isOver = true
            task = nil
            self.waiter = nil
            return waiter
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs the code. Called once.
    package func run(
        on executor: (any TaskExecutor)? = nil, _ code: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            await withCheckedContinuation { start(code, on: executor, $0) }
        } onCancel: {
            cancel()
        }.get()
    }

    private func start(
        _ code: @escaping @Sendable () async throws -> Value, on executor: (any TaskExecutor)?,
        _ waiter: CheckedContinuation<Outcome, Never>
    ) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.waiter = waiter }
            return state.isCancelled
        }
        guard !isCancelled else { return waiter.resume(returning: .failure(CancellationError())) }
        let task = Task(executorPreference: executor) { [self] in
            let outcome: Outcome
            do {
                outcome = .success(try await code())
            } catch {
                outcome = .failure(error)
            }
            state.withLock { $0.end() }?.resume(returning: outcome)
        }
        let isLate = state.withLock { state in
            // The code may have ended already, and nothing would release the task then.
            if !state.isOver { state.task = task }
            return state.isCancelled
        }
        // The cancellation came before the task was known.
        if isLate { task.cancel() }
    }

    private func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        // Tells the calls.
        task?.cancel()
        endIfAlone(CancellationError())
    }

    /// Ends the wait of a caller that is cancelled, unless a call is about to end.
    private func endIfAlone(_ error: any Error) {
        let waiter = state.withLock { $0.isCancelled && $0.toldCalls.isEmpty ? $0.end() : nil }
        waiter?.resume(returning: .failure(error))
    }

    /// Performs a call that the code makes. Throws `cancelled` without performing it if nothing waits for the code any
    /// more.
    package func call<Answer: Sendable, Failure: Error>(
        cancelled: @autoclosure () -> Failure, _ body: () async throws(Failure) -> Answer
    ) async throws(Failure) -> Answer {
        let number = state.withLock { state -> Int? in
            state.lastCall += 1
            return state.isOver ? nil : state.lastCall
        }
        guard let number else { throw cancelled() }
        let result = await withTaskCancellationHandler {
            await Result(catching: body)
        } onCancel: {
            state.withLock { state in
                if !state.isOver { _ = state.toldCalls.insert(number) }
            }
        }
        let wasTold = state.withLock { $0.toldCalls.remove(number) != nil }
        switch result {
        case .success(let answer):
            if wasTold { endIfAlone(CancellationError()) }
            return answer
        case .failure(let error):
            if wasTold { endIfAlone(error) }
            throw error
        }
    }
}

extension Result where Success: Sendable {
    fileprivate init(catching body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
