/// Where a task stands.
///
/// A task goes from `suspended` to `running` and back as often as it is asked, and ends in `completed`; when it is
/// cancelled on its way, `cancelling` comes between.
public enum TaskState: Sendable, Hashable {
    /// Not started yet, or held back.
    case suspended
    /// On its way.
    case running
    /// Cancelled, but still winding up.
    case cancelling
    /// Ended; nothing changes any more.
    case completed
}
