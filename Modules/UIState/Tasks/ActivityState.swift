public import LinnetSession
public import Observation

/// The state of a spinner for one task.
///
/// ```swift
/// let activity = ActivityState()
/// activity.follow(task)
/// ```
/// ``NetworkActivityIndicator`` is for all requests, and has delays.
@MainActor
@Observable
public final class ActivityState {
    /// Whether the spinner moves: the followed task runs.
    public private(set) var isAnimating = false

    @ObservationIgnored private let follower = TaskFollower()
    @ObservationIgnored private let latest = LatestValue(false)

    /// Creates a state that follows no task.
    public init() {}

    /// ``isAnimating``, now and after each change; a slow reader misses intermediate values. Ends when the state is released.
    public var states: AsyncStream<Bool> { latest.stream }

    /// Follows a task instead of the previous one.
    ///
    /// ``isAnimating`` is true while the task runs, whether it was resumed before or is resumed later, and false while it is
    /// suspended and once it has ended. The task is not retained.
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
        guard isAnimating != isBusy else { return }
        isAnimating = isBusy
        latest.send(isBusy)
    }
}
