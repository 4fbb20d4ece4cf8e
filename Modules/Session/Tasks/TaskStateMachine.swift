/// The states and the progress of a task. Each method is an event, and returns the action that the owner must perform.
struct TaskStateMachine {
    private enum Phase {
        case idle
        case running
        case paused
        /// The task performs an irreversible step, and can no longer be cancelled.
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
        /// The task never ran, so it ends immediately.
        case complete(SessionError)
        /// The work must stop; it calls `complete` at its end.
        case stop
    }

    enum CommitAction {
        /// The task is committed, and can no longer be cancelled.
        case goOn
        /// The task is suspended.
        case wait
        /// The task was cancelled.
        case stop
    }

    enum CompleteAction {
        case none
        /// The task ends with the result of its work.
        case deliver
        /// The task was cancelled, and fails with this error.
        case fail(SessionError)
    }

    private var phase = Phase.idle
    private(set) var progress = TaskProgress()
    /// The bytes sent by the current attempt; the progress has the maximum of all attempts.
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

    /// Whether the transfer must wait.
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

    /// The work is about to perform an irreversible step.
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

    /// Suspends a running task; returns whether the state changed.
    mutating func suspend() -> Bool {
        guard case .running = phase else { return false }
        phase = .paused
        return true
    }

    /// Cancels the task with a reason, which becomes the task's error regardless of the work's result.
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

    /// The work has ended. After a success, the totals are set to the transferred bytes.
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

    /// An attempt starts to send its body.
    mutating func willSend(total: Int64?) -> Bool {
        guard !isOver else { return false }
        sentByAttempt = 0
        return change { progress in
            // An earlier attempt may have sent more than this one will.
            progress.upload.total = total.map { max($0, progress.upload.completed) }
        }
    }

    mutating func didSend(_ bytes: Int64) -> Bool {
        guard !isOver else { return false }
        sentByAttempt += bytes
        let sent = sentByAttempt
        return change { $0.upload.completed = max($0.upload.completed, sent) }
    }

    /// An attempt has ended. The transport can send the request again without a call to `willSend(total:)`.
    mutating func didEndAttempt() {
        sentByAttempt = 0
    }

    /// A response's body begins, at this offset of the entity.
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
        // After an early response, part of the request may be unsent; its total then remains unchanged.
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
