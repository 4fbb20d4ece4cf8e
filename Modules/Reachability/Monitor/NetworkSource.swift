/// Reads the network, and reports its changes.
protocol NetworkSource: RouteSource, Sendable {
    /// A descriptor that is readable after a change; nil for a source that is read at an interval.
    var descriptor: Int32? { get }
    /// The interval at which a source without a descriptor is read.
    var interval: Duration? { get }
    /// Whether changes were received while the state was read.
    var hasPendingChanges: Bool { get }

    /// Receives pending notifications into the state, without waiting. Returns the kind of the possible changes.
    mutating func receiveChanges(into state: inout NetworkState) -> NetworkChange
    mutating func read() throws(ReachabilityError) -> NetworkState
    /// Forgets the answers and facts that it collected while statuses were derived.
    mutating func forget()
}
