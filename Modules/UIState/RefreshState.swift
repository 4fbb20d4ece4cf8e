public import LinnetSession
public import Observation

/// The state of a pull-to-refresh control.
///
/// ```swift
/// let refresh = RefreshState()
/// refresh.follow(session.get("posts", success: show))
/// ```
@MainActor
@Observable
public final class RefreshState {
    /// Whether the followed task runs.
    public private(set) var isRefreshing = false

    @ObservationIgnored private var listener: Task<Void, Never>?

    /// Creates a state that follows no task.
    public init() {}

    isolated deinit {
        listener?.cancel()
    }

    /// Follows a task instead of the previous one.
    ///
    /// ``isRefreshing`` is true while the task runs, whether it was resumed before or is resumed later. The task is not
    /// retained.
    ///
    /// - Parameter task: The task to follow; nil to follow none.
    public func follow(_ task: (any SessionTask)?) {
        listener?.cancel()
        listener = nil
        isRefreshing = task?.state == .running
        guard let states = task?.states else { return }
        listener = Task { [weak self] in
            for await state in states {
                guard let self, !Task.isCancelled else { return }
                let isRunning = state == .running || state == .cancelling
                if isRefreshing != isRunning { isRefreshing = isRunning }
            }
        }
    }
}
