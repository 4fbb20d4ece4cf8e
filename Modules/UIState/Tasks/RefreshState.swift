public import LinnetSession
public import Observation

/// The state of a pull-to-refresh control.
///
/// ```swift
/// let refresh = RefreshState()
/// refresh.follow(session.get("posts").task(as: [Post].self))
/// ```
@MainActor
@Observable
public final class RefreshState {
    /// Whether the followed task runs.
    public private(set) var isRefreshing = false

    @ObservationIgnored private let follower = TaskFollower()
    @ObservationIgnored private let latest = LatestValue(false)

    /// Creates a state that follows no task.
    public init() {}

    /// ``isRefreshing``, now and after each change; a slow reader misses intermediate values. Ends when the state is
    /// released.
    public var states: AsyncStream<Bool> { latest.stream }

    /// Follows a task instead of the previous one.
    ///
    /// ``isRefreshing`` is true while the task runs, whether it is resumed before or after this call, and false after
    /// its end. The task is not retained.
    ///
    /// - Parameter task: The task to follow; nil to follow none.
    public func follow(_ task: (any SessionTask)?) {
        show(task?.state.isBusy == true)
        follower.follow(task?.states) { [weak self] state in
            self?.show(state.isBusy)
            return self != nil
        }
    }

    private func show(_ isBusy: Bool) {
        guard isRefreshing != isBusy else { return }
        isRefreshing = isBusy
        latest.send(isBusy)
    }
}
