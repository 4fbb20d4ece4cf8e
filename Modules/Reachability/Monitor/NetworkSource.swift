/// Reads the network, and tells when it changes.
protocol NetworkSource: RouteSource, Sendable {
    /// The descriptor that is readable when something changed; nil when the source is to be read at an interval.
    var descriptor: Int32? { get }
    /// The interval at which a source without a descriptor is read.
    var interval: Duration? { get }
    /// Whether changes were received while the state was read.
    var hasPendingChanges: Bool { get }

    /// Receives pending notifications into the state, without waiting. Returns what may have changed.
    mutating func receiveChanges(into state: inout NetworkState) -> NetworkChange
    mutating func read() throws(ReachabilityError) -> NetworkState
    /// Forgets the answers and facts that it keeps while statuses are derived.
    mutating func forget()
}
