/// The subscription of a reader to a hub: the current status and the later ones of the same run.
struct StatusSubscription: Sendable {
    let hub: StatusHub
    /// The run that ends the subscription: the current one, or the next one if there was none.
    let run: UInt64
    /// Whether the monitor was stopped at the time of the subscription, so that there are no later statuses.
    let isLate: Bool
    /// The status at the time of the subscription.
    let current: ReachabilityStatus
    /// Later statuses. Only the newest one is buffered.
    let changes: AsyncStream<ReachabilityStatus>

    /// Whether the run has ended. Afterwards nothing may be delivered, even if the buffer has a status.
    var isOver: Bool { hub.isOver(run) }
}
