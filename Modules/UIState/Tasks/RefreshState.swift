public import LinnetSession
public import Observation

/// The state of a pull-to-refresh control: an ``ActivityState`` with the name that such a control uses.
///
/// ```swift
/// let refresh = RefreshState()
/// refresh.follow(session.get("posts").task(as: [Post].self))
/// ```
@MainActor
@Observable
public final class RefreshState {
    private let activity = ActivityState()

    /// Creates a state that follows no task.
    public init() {}

    /// Whether the followed task runs.
    public var isRefreshing: Bool { activity.isAnimating }

    /// ``isRefreshing``, now and after each change; a slow reader misses intermediate values. Ends when the state is
    /// released.
    public var states: AsyncStream<Bool> { activity.states }

    /// Follows a task instead of the previous one, as an ``ActivityState`` does.
    ///
    /// - Parameter task: The task to follow; nil to follow none.
    public func follow(_ task: (any SessionTask)?) { activity.follow(task) }

    /// Follows a sequence of states instead of the previous task, such as the states of a transfer in the background.
    /// ``isRefreshing`` is false until the first of them.
    public func follow(_ states: EventSequence<TaskState>) { activity.follow(states) }
}
