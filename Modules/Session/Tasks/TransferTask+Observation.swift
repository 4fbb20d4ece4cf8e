extension TransferTask {
    /// The current state and progress, then each event, in order; ends after the completion. A slow reader misses only
    /// intermediate progress.
    public var events: EventSequence<Event> {
        driver.sequence(coalescing: { waiting, next in waiting.isProgress && next.isProgress }) { Event($0) }
    }

    /// The current state, then each new one, in order; ends after `completed`.
    public var states: EventSequence<TaskState> {
        driver.sequence(\.state)
    }

    /// The current progress, then each change; a slow reader misses intermediate values, never the last.
    public var progressUpdates: EventSequence<TaskProgress> {
        driver.sequence(coalescing: { _, _ in true }, \.progress)
    }

    /// Calls a function with the current state, then with each new one, in order, on the session's callback executor.
    @discardableResult
    public func onStateChange(_ observer: @escaping @Sendable (TaskState) -> Void) -> SessionObservation {
        driver.observe(on: executor, \.state, observer)
    }

    /// Calls a function with the current progress, then with each change, in order, on the session's callback executor.
    @discardableResult
    public func onProgress(_ observer: @escaping @Sendable (TaskProgress) -> Void) -> SessionObservation {
        driver.observe(on: executor, \.progress, observer)
    }

    /// Calls a function with the task's result, exactly once, on the session's callback executor, even if the task has ended.
    @discardableResult
    public func onCompletion(
        _ observer: @escaping @Sendable (Result<Response<Value>, SessionError>) -> Void
    ) -> SessionObservation {
        driver.observe(on: executor, \.outcome, observer)
    }
}

extension TransferTask.Event {
    init(_ news: TaskNews<Response<Value>>) {
        switch news {
        case .state(let state): self = .state(state)
        case .progress(let progress): self = .progress(progress)
        case .completed(let outcome): self = .completed(outcome)
        }
    }

    fileprivate var isProgress: Bool {
        if case .progress = self { true } else { false }
    }
}

extension TaskNews {
    var state: TaskState? {
        if case .state(let state) = self { state } else { nil }
    }

    var progress: TaskProgress? {
        if case .progress(let progress) = self { progress } else { nil }
    }

    var outcome: Result<Output, SessionError>? {
        if case .completed(let outcome) = self { outcome } else { nil }
    }
}
