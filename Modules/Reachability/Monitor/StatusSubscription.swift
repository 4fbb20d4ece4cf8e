/// What a subscriber of a hub reads: the status at the time of the subscription, and the later ones of the same run.
struct StatusSubscription: Sendable {
    let hub: StatusHub
    /// The run that ends the subscription: the current one, or the next one when there was none.
    let run: UInt64
    /// Whether the monitor was stopped at the time of the subscription, so that there are no later statuses.
    let isLate: Bool
    /// The status at the time of the subscription.
    let current: ReachabilityStatus
    /// Later statuses, of which only the newest is buffered.
    let changes: AsyncStream<ReachabilityStatus>

    /// Whether the run has ended. What was not delivered before must not be delivered then, although it may be in the buffer.
    var isOver: Bool { hub.isOver(run) }
}
