internal import FoundationEssentials
internal import LinnetSerialization

// The session's current handles. Nothing here waits.
extension Session {
    /// The handles that have not ended, in the order in which they were made. Never waits.
    public var tasks: [any SessionTask] { registry.tasks }

    /// The tasks among ``tasks`` that are neither uploads, downloads nor streams.
    public var dataTasks: [any SessionTask] { tasks(of: .data) }

    /// The tasks among ``tasks`` that send a file, a form, or other bytes.
    public var uploadTasks: [any SessionTask] { tasks(of: .upload) }

    /// The ``DownloadTask``s among ``tasks``.
    public var downloadTasks: [any SessionTask] { tasks(of: .download) }

    /// The ``StreamTask``s among ``tasks``.
    public var streamTasks: [any SessionTask] { tasks(of: .stream) }

    /// Cancels every handle that has not ended. Requests without a handle are cancelled by the task that awaits them.
    public func cancelAll() {
        for task in registry.tasks { task.cancel() }
    }

    /// Cancels the handles whose requests have this `RequestOptions.tag`.
    public func cancelTasks(tagged tag: String) {
        cancelTasks { $0.originalRequest?.options.tag == tag }
    }

    /// Cancels the handles whose requests' paths begin with this, such as `/api/v1/posts/`, compared as written in the URLs.
    public func cancelTasks(pathPrefix prefix: String) {
        cancelTasks { $0.originalRequest?.url.path(percentEncoded: true).hasPrefix(prefix) == true }
    }

    /// Cancels the handles for which a function returns true.
    public func cancelTasks(where isMeant: (any SessionTask) -> Bool) {
        for task in registry.tasks where isMeant(task) { task.cancel() }
    }

    private func tasks(of kind: TaskKind) -> [any SessionTask] {
        registry.tasks.filter { $0.kind == kind }
    }
}
