public import LinnetSession
public import Observation

/// The state of a spinner for one task.
///
/// ```swift
/// let activity = ActivityState()
/// activity.follow(task)
/// ```
/// For all requests, with delays, use ``NetworkActivityIndicator``.
@MainActor
@Observable
public final class ActivityState {
    /// Whether the spinner moves, because the followed task runs.
    public private(set) var isAnimating = false

    @ObservationIgnored private let follower = TaskFollower()
    @ObservationIgnored private let latest = LatestValue(false)

    /// Creates a state that follows no task.
    public init() {}

    /// ``isAnimating``, now and after each change; a slow reader misses intermediate values. Ends when the state is
    /// released.
    public var states: AsyncStream<Bool> { latest.stream }

    /// Follows a task instead of the previous one.
    ///
    /// ``isAnimating`` is true while the task runs, whether it is resumed before or after this call, and false while it
    /// is suspended and after its end. The task is not retained.
    ///
    /// - Parameter task: The task to follow; nil to follow none.
    public func follow(_ task: (any SessionTask)?) {
        show(task?.state.isBusy == true)
        follower.follow(task?.states) { [weak self] state in
            self?.show(state.isBusy)
            return self != nil
        }
    }

    /// Follows a sequence of states instead of the previous task, such as the states of a transfer in the background.
    /// ``isAnimating`` is false until the first of them.
    public func follow(_ states: EventSequence<TaskState>) {
        show(false)
        follower.follow(states) { [weak self] state in
            self?.show(state.isBusy)
            return self != nil
        }
    }

    private func show(_ isBusy: Bool) {
        guard isAnimating != isBusy else { return }
        isAnimating = isBusy
        latest.send(isBusy)
    }
}
