internal import LinnetMessages
internal import LinnetSerialization
internal import Synchronization

extension TaskDriver {
    /// Calls a function with the current state, progress and outcome, and then with each update, on the thread where it
    /// happens.
    func observe(_ observer: @escaping TaskOutbox.Observer) -> SessionObservation {
        let key = nextKey()
        change { state in
            // Publishes pending progress first, so that the new observer does not receive it twice.
            state.publishProgress(at: state.outcome == nil ? .now : nil)
            var known: [TaskNews] = [.state(state.machine.state), .progress(state.progress(at: .now))]
            if let outcome = state.outcome { known.append(.completed(outcome)) }
            state.outbox.add(observer, key: key, hearing: known)
            return {}
        }
        return SessionObservation { [weak self] in self?.removeObserver(key) }
    }

    /// Calls a function with the outcome on an executor, once it is known. It learns of no other update, which a handle
    /// that is only waited for would otherwise deliver in vain.
    func observeOutcome(
        on executor: CallbackExecutor, _ observer: @escaping @Sendable (Outcome) -> Void
    ) -> SessionObservation {
        let isCancelled = CancellationFlag()
        let key = nextKey()
        change { state in
            let tell: TaskOutbox.Observer = { news in
                guard case .completed(let outcome) = news else { return }
                executor.execute {
                    if !isCancelled.isSet { observer(outcome) }
                }
            }
            state.outbox.addFinal(tell, key: key, hearing: state.outcome.map { .completed($0) })
            return {}
        }
        return SessionObservation { [weak self] in
            isCancelled.set()
            self?.removeObserver(key)
        }
    }

    private func removeObserver(_ key: UInt64) {
        withExtendedLifetime(shared.withLock { $0.outbox.remove(key) }) {}
    }

    /// Calls a function with the outcome on the thread where it is known.
    func observeEnd(_ observer: @escaping @Sendable (Outcome) -> Void) {
        change { state in
            state.lastKey += 1
            state.outbox.addFinal(
                { if case .completed(let outcome) = $0 { observer(outcome) } }, key: state.lastKey,
                hearing: state.outcome.map { .completed($0) })
            return {}
        }
    }

    /// Selects from each update, and calls a function with the results on an executor.
    func observe<News: Sendable>(
        on executor: CallbackExecutor, _ select: @escaping @Sendable (TaskNews) -> News?,
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

    /// Returns a sequence of the selected parts of each update. It ends with the task.
    func sequence<News: Sendable>(
        coalescing: (@Sendable (News, News) -> Bool)? = nil, _ select: @escaping @Sendable (TaskNews) -> News?
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
        await shared.wait(in: { $1(&$0.waiters) }, ifCancelled: nil) { $0.toldOutcome }
    }

    /// Waits for the outcome and its delivery to all observers. Cancelling the caller's task only ends the wait.
    func waitForOutcome() async -> Outcome {
        await shared.wait(in: { $1(&$0.waiters) }, ifCancelled: { [url = request?.url] in .failure(.cancelled(url)) }) {
            $0.toldOutcome
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

extension TaskDriver.Shared {
    /// The reported progress, with its throughput.
    func progress(at now: ContinuousClock.Instant) -> TaskProgress {
        outcome == nil ? pace.measured(machine.progress, at: now) : machine.progress
    }

    /// Reports the progress to observers, unless it was already reported. A nil time means that the task has ended.
    mutating func publishProgress(at now: ContinuousClock.Instant?) {
        guard machine.progress != pace.told else { return }
        pace.didTell(machine.progress, at: now)
        guard outbox.hasObservers else { return }
        outbox.append(.progress(now.map { progress(at: $0) } ?? machine.progress))
    }
}

extension TaskDriver {
    /// Changes the progress, and reports it at most once per interval.
    func changeProgress(_ body: (inout TaskStateMachine) -> Bool) {
        change { state in
            let before = state.machine.progress
            guard body(&state.machine) else { return {} }
            let after = state.machine.progress
            let hasMoved =
                before.upload.completed != after.upload.completed
                || before.download.completed != after.download.completed
            guard hasMoved || state.outbox.hasObservers else { return {} }
            let now = ContinuousClock.now
            state.pace.changed(from: before, to: after, at: now)
            guard state.outbox.hasObservers else { return {} }
            switch state.pace.step(at: now) {
            case .tell: state.publishProgress(at: now)
            case .wait(let time): return { [weak self] in self?.startProgressTimer(time) }
            case .none: break
            }
            return {}
        }
    }

    private func startProgressTimer(_ time: Duration) {
        let timer = Task { [weak self] in
            do { try await Task.sleep(for: time.waitable) } catch { return }
            self?.tellDelayedProgress()
        }
        let hasEnded = shared.withLock { state in
            state.pace.setTimer(timer)
            return state.outcome != nil
        }
        if hasEnded { timer.cancel() }
    }

    private func tellDelayedProgress() {
        change { state in
            state.pace.timerFired()
            if state.outcome == nil { state.publishProgress(at: .now) }
            return {}
        }
    }
}

extension TaskDriver {
    /// Returns the hooks of the task's request, created on the first call; nil if there are none.
    func requestHooks() -> RequestHooks? {
        guard let request else { return nil }
        return shared.withLock { state in
            if let made = state.requestHooks { return made }
            state.requestHooks = hub.hooks(of: request, state.hooks, kind, id: id)
            return state.requestHooks
        }
    }

    /// Calls the hooks for the end of the request, and releases them.
    func completeHooks(_ error: SessionError?) {
        requestHooks()?.complete(error, shared.withLock { $0.metrics })
        // They may be the last owners of a handle, whose deinit acquires the lock.
        shared.replace(\.hooks, with: nil)
        shared.replace(\.requestHooks, with: nil)
    }
}

extension TaskDriver {
    /// Returns the completion to post for an outcome.
    func completion(_ outcome: Outcome) -> TaskCompletion {
        let serializer = shared.withLock { $0.serializer }
        switch outcome {
        case .failure(let error): return TaskCompletion(error, serializer)
        case .success: return output.completion(kind, serializer) ?? TaskCompletion(nil, metrics: attemptMetrics)
        }
    }

    /// Adds the task to the session's completion group; called when the task starts.
    func enterGroup() {
        guard let group = hub.group else { return }
        shared.withLock { $0.isCounted = true }
        group.enter()
    }
}
