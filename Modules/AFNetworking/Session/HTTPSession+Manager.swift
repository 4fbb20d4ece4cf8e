public import LinnetSession
internal import LinnetTransport

// AFURLSessionManager's own names for the session's tasks and its end.
extension HTTPSession {
    /// The tasks among `tasks` that are neither uploads, downloads nor streams.
    public var dataTasks: [any SessionTask] { tasks(of: .data) }

    /// The tasks among `tasks` that send a file, a form, or other bytes.
    public var uploadTasks: [any SessionTask] { tasks(of: .upload) }

    /// The `DownloadTask`s among `tasks`.
    public var downloadTasks: [any SessionTask] { tasks(of: .download) }

    private func tasks(of kind: TaskKind) -> [any SessionTask] {
        tasks.filter { $0.kind == kind }
    }

    /// invalidateSessionCancelingTasks:resetSession:
    ///
    /// Ends the session as `shutdown(_:)` does, and returns at once: immediately when its tasks are to be cancelled,
    /// otherwise gracefully. `copy()` makes a new session like it.
    public func invalidate(cancellingTasks: Bool) {
        startShutdown(cancellingTasks ? .immediate : .graceful)
    }
}
