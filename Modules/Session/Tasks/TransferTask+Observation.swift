extension TransferTask {
    /// What the task is and has done, then what happens, in order; ends after the completion. A slow reader misses
    /// progress in between, nothing else.
    public var events: EventSequence<Event> {
        driver.sequence(coalescing: { waiting, next in waiting.isProgress && next.isProgress }) { Event($0) }
    }

    /// The state that it has, then each one that it gets, in order; ends after `completed`.
    public var states: EventSequence<TaskState> {
        driver.sequence(\.state)
    }

    /// The progress that it has, then each change; a slow reader misses those in between, never the last.
    public var progressUpdates: EventSequence<TaskProgress> {
        driver.sequence(coalescing: { _, _ in true }, \.progress)
    }

    /// Calls a function with the state that the task has, and then with each one that it gets, in order, on the
    /// session's callback executor.
    @discardableResult
    public func onStateChange(_ observer: @escaping @Sendable (TaskState) -> Void) -> SessionObservation {
        driver.observe(on: executor, \.state, observer)
    }

    /// Calls a function with the progress that the task has, and then with each change, in order, on the session's
    /// callback executor.
    @discardableResult
    public func onProgress(_ observer: @escaping @Sendable (TaskProgress) -> Void) -> SessionObservation {
        driver.observe(on: executor, \.progress, observer)
    }

    /// Calls a function with the task's end, exactly once, also when it has ended already, on the session's callback
    /// executor.
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
