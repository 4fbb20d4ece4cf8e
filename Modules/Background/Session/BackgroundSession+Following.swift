public import LinnetSession

extension BackgroundSession {
    /// The progress of a task, now and after each change; a slow reader misses intermediate values, never the last.
    /// Ends when the session is shut down. Bytes that another process transfers are counted when the state of the task
    /// changes.
    ///
    /// `TransferProgressState` shows it: `state.follow(background.progressUpdates(of: task.id))`.
    public func progressUpdates(of id: BackgroundTask.ID) -> EventSequence<TransferProgress> {
        feed.values(of: id, now: { [weak self] in try? await self?.task(id) }) { $0.progress }
    }

    /// The state of a task in the terms of a session's tasks, now and after each change: `suspended` while it waits or
    /// is paused, `completed` after its end, however it ended. Ends when the session is shut down.
    ///
    /// `ActivityState` shows it: `state.follow(background.states(of: task.id))`.
    public func states(of id: BackgroundTask.ID) -> EventSequence<TaskState> {
        feed.values(of: id, now: { [weak self] in try? await self?.task(id) }) { task in
            switch task.state {
            case .running: .running
            case .waiting, .paused: .suspended
            case .completed, .failed, .cancelled: .completed
            }
        }
    }
}
