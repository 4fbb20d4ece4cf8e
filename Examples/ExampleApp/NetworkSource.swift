import Linnet

/// The source of the network's status.
struct NetworkSource: Sendable {
    /// The current status, then each change.
    let statuses: AsyncStream<ReachabilityStatus>
    private let monitor: ReachabilityMonitor?

    /// The status of the machine; unknown if it cannot be monitored.
    static func machine() -> NetworkSource {
        guard let monitor = try? ReachabilityMonitor() else { return fixed(.unknown) }
        let (statuses, continuation) = AsyncStream.makeStream(
            of: ReachabilityStatus.self, bufferingPolicy: .bufferingNewest(1))
        monitor.observe { continuation.yield($0) }
        return NetworkSource(statuses: statuses, monitor: monitor)
    }

    /// A status that does not change, for trying how the app looks.
    static func fixed(_ status: ReachabilityStatus) -> NetworkSource {
        let (statuses, continuation) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        continuation.yield(status)
        return NetworkSource(statuses: statuses, monitor: nil)
    }

    func stop() { monitor?.stop() }
}
