/// The states and the progress of a task. Each method is an event, and returns what the owner has to do about it.
struct TaskStateMachine {
    private enum Phase {
        case idle
        case running
        case paused
        /// What cannot be undone is being done: it cannot be cancelled any more.
        case committed
        case cancelling(SessionError)
        case completed
    }

    enum ResumeAction {
        case none
        case start
        case openGate
    }

    enum CancelAction {
        case none
        /// It never ran: it ends here and now.
        case complete(SessionError)
        /// The work must stop; its end is reported by `complete`.
        case stop
    }

    enum CommitAction {
        /// From now on the task cannot be cancelled.
        case goOn
        /// It is suspended.
        case wait
        /// It was cancelled.
        case stop
    }

    enum CompleteAction {
        case none
        /// The work's own result counts.
        case deliver
        /// The task was cancelled before; this is its result.
        case fail(SessionError)
    }

    private var phase = Phase.idle
    private(set) var progress = TaskProgress()
    /// Of the attempt that runs; the progress shows the most that any attempt sent.
    private var sentByAttempt: Int64 = 0
    private var receivedByAttempt: Int64 = 0

    var state: TaskState {
        switch phase {
        case .idle, .paused: .suspended
        case .running, .committed: .running
        case .cancelling: .cancelling
        case .completed: .completed
        }
    }

    var hasStarted: Bool {
        if case .idle = phase { false } else { true }
    }

    /// Whether bytes have to wait.
    var isGateClosed: Bool {
        if case .paused = phase { true } else { false }
    }

    mutating func resume() -> ResumeAction {
        switch phase {
        case .idle:
            phase = .running
            return .start
        case .paused:
            phase = .running
            return .openGate
        case .running, .committed, .cancelling, .completed:
            return .none
        }
    }

    /// The work is about to do what cannot be undone.
    mutating func commit() -> CommitAction {
        switch phase {
        case .running, .committed:
            phase = .committed
            return .goOn
        case .paused:
            return .wait
        case .idle, .cancelling, .completed:
            return .stop
        }
    }

    /// Returns whether anything changed.
    mutating func suspend() -> Bool {
        guard case .running = phase else { return false }
        phase = .paused
        return true
    }

    /// Cancels for a reason, which will be the task's error whatever the work says in the end.
    mutating func cancel(_ reason: SessionError) -> CancelAction {
        switch phase {
        case .idle:
            phase = .completed
            return .complete(reason)
        case .running, .paused:
            phase = .cancelling(reason)
            return .stop
        case .committed, .cancelling, .completed:
            return .none
        }
    }

    /// The work has ended, well or not. After a success the totals are what was transferred.
    mutating func complete(successfully: Bool) -> CompleteAction {
        switch phase {
        case .completed:
            return .none
        case .cancelling(let reason):
            phase = .completed
            return .fail(reason)
        case .idle, .running, .paused, .committed:
            phase = .completed
            if successfully { finishProgress() }
            return .deliver
        }
    }

    // MARK: Progress; each returns whether it changed.

    /// An attempt begins to send.
    mutating func willSend(total: Int64?) -> Bool {
        guard !isOver else { return false }
        sentByAttempt = 0
        return change { progress in
            progress.upload.total = total.map { max($0, progress.upload.completed) }
        }
    }

    mutating func didSend(_ bytes: Int64) -> Bool {
        guard !isOver else { return false }
        sentByAttempt += bytes
        let sent = sentByAttempt
        return change { $0.upload.completed = max($0.upload.completed, sent) }
    }

    /// An attempt is over. The transport may send the request again without a word.
    mutating func didEndAttempt() {
        sentByAttempt = 0
    }

    /// A response begins to come, whose first byte is this one of the whole.
    mutating func willReceive(total: Int64?, from offset: Int64 = 0) -> Bool {
        guard !isOver else { return false }
        receivedByAttempt = offset
        return change { progress in
            progress.download.completed = max(progress.download.completed, offset)
            progress.download.total = total.map { max($0, progress.download.completed) }
        }
    }

    mutating func didReceive(_ bytes: Int64) -> Bool {
        guard !isOver else { return false }
        receivedByAttempt += bytes
        let received = receivedByAttempt
        return change { $0.download.completed = max($0.download.completed, received) }
    }

    private var isOver: Bool {
        switch phase {
        case .cancelling, .completed: true
        case .idle, .running, .paused, .committed: false
        }
    }

    private mutating func finishProgress() {
        // An early response can leave a part of the request unsent; the total stays what it was then.
        progress.upload.total = progress.upload.total ?? progress.upload.completed
        progress.download.total = progress.download.completed
    }

    private mutating func change(_ body: (inout TaskProgress) -> Void) -> Bool {
        var changed = progress
        body(&changed)
        guard changed != progress else { return false }
        progress = changed
        return true
    }
}
