public import LinnetSession
public import Observation

/// Whether something is being refreshed: the state behind a pull-to-refresh control.
///
/// ```swift
/// let refresh = RefreshState()
/// refresh.follow(session.get("posts", success: show))
/// ```
@MainActor
@Observable
public final class RefreshState {
    /// Whether the task that is followed runs.
    public private(set) var isRefreshing = false

    @ObservationIgnored private var listener: Task<Void, Never>?

    /// Makes a state that follows nothing.
    public init() {}

    isolated deinit {
        listener?.cancel()
    }

    /// Follows a task from now on, instead of the one before; nil follows none.
    ///
    /// It refreshes while the task runs, whether that began before or begins later, and ends with it. The task is not
    /// kept alive.
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
