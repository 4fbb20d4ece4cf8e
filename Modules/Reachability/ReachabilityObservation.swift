/// A callback that was given to a monitor, for taking it back.
public final class ReachabilityObservation: Sendable {
    private let task: Task<Void, Never>

    init(_ statuses: ReachabilityStatuses, _ handler: @escaping @Sendable (ReachabilityStatus) -> Void) {
        task = Task {
            for await status in statuses where !Task.isCancelled { handler(status) }
        }
    }

    /// Ends the observation: no status that comes later is delivered.
    ///
    /// A call that is under way on another thread is not waited for. Cancelling twice does nothing.
    public func cancel() { task.cancel() }
}
