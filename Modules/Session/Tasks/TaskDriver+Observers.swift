internal import LinnetSerialization
internal import Synchronization

extension TaskDriver {
    /// Calls a function with the current state, progress and outcome, and then with each update, on the thread where it happens.
    func observe(_ observer: @escaping TaskOutbox<Output>.Observer) -> SessionObservation {
        let key = nextKey()
        change { state in
            // Publishes pending progress first, so that the new observer does not receive it twice.
            state.publishProgress(at: state.outcome == nil ? .now : nil)
            var known: [TaskNews<Output>] = [.state(state.machine.state), .progress(state.progress(at: .now))]
            if let outcome = state.outcome { known.append(.completed(outcome)) }
            state.outbox.add(observer, key: key, hearing: known)
            return {}
        }
        return SessionObservation { [weak self] in self?.shared.withLock { $0.outbox.remove(key) } }
    }

    /// Calls a function on an executor with what `select` returns for each update.
    func observe<News: Sendable>(
        on executor: CallbackExecutor, _ select: @escaping @Sendable (TaskNews<Output>) -> News?,
        _ observer: @escaping @Sendable (News) -> Void
    ) -> SessionObservation {
        let isCancelled = CancellationFlag()
        let observation = observe { news in
            guard let selected = select(news) else { return }
            executor.execute {
                if !isCancelled.isSet { observer(selected) }
            }
        }
        return SessionObservation {
            isCancelled.set()
            observation.cancel()
        }
    }

    /// Returns a sequence of what `select` returns for each update. It ends with the task.
    func sequence<News: Sendable>(
        coalescing: (@Sendable (News, News) -> Bool)? = nil, _ select: @escaping @Sendable (TaskNews<Output>) -> News?
    ) -> EventSequence<News> {
        EventSequence(coalescing: coalescing) { buffer in
            observe { news in
                if let selected = select(news) { buffer.append(selected) }
                if case .completed = news { buffer.finish() }
            }
        }
    }

    /// Waits for the outcome and its delivery to all observers, even if the caller's task is cancelled.
    func ending() async -> Outcome {
        let key = nextKey()
        return await withCheckedContinuation { waiter in
            let outcome = shared.withLock { state -> Outcome? in
                if let told = state.toldOutcome { return told }
                state.waiters[key] = waiter
                return nil
            }
            if let outcome { waiter.resume(returning: outcome) }
        }
    }

    /// Waits for the outcome and its delivery to all observers. Cancelling the caller's task only ends the wait.
    func waitForOutcome() async -> Outcome {
        if let outcome = shared.withLock({ $0.toldOutcome }) { return outcome }
        let key = nextKey()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let outcome = shared.withLock { state -> Outcome? in
                    if let told = state.toldOutcome { return told }
                    if Task.isCancelled { return .failure(.cancelled(request?.url)) }
                    state.waiters[key] = waiter
                    return nil
                }
                if let outcome { waiter.resume(returning: outcome) }
            }
        } onCancel: {
            shared.withLock { $0.waiters.removeValue(forKey: key) }?
                .resume(returning: .failure(.cancelled(request?.url)))
        }
    }
}

/// A flag that stops calls, including those that were already submitted to an executor.
private final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() {
        flag.store(true, ordering: .releasing)
    }
}
