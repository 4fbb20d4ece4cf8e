/// The state of a task.
///
/// A task changes between `suspended` and `running` any number of times, and ends in `completed`; a task that is cancelled
/// while it runs is `cancelling` in between.
public enum TaskState: Sendable, Hashable {
    /// Not started yet, or suspended.
    case suspended
    /// Running.
    case running
    /// Cancelled, but not yet ended.
    case cancelling
    /// Ended. The state no longer changes.
    case completed
}
