internal import Synchronization

// AFNetworkReachabilityManager's names. New programs should use ``ReachabilityMonitor/status`` and
// ``ReachabilityMonitor/statuses``.
extension ReachabilityMonitor {
    /// managerForDomain:
    ///
    /// - Throws: The errors of ``ReachabilityMonitor/init(host:port:_:)``.
    public static func manager(forDomain domain: String) throws(ReachabilityError) -> ReachabilityMonitor {
        try ReachabilityMonitor(host: domain, port: 443)
    }

    /// managerForAddress:
    ///
    /// - Throws: The errors of ``ReachabilityMonitor/init(address:_:)``.
    public static func manager(forAddress address: String) throws(ReachabilityError) -> ReachabilityMonitor {
        try ReachabilityMonitor(address: address)
    }

    /// networkReachabilityStatus
    public var networkReachabilityStatus: NetworkReachabilityStatus { NetworkReachabilityStatus(status) }

    /// reachable
    public var isReachable: Bool { status.isReachable }

    /// reachableViaWWAN
    public var isReachableViaWWAN: Bool { networkReachabilityStatus == .reachableViaWWAN }

    /// reachableViaWiFi
    ///
    /// As in AFNetworking, the value is true for every network that is not mobile, even for Ethernet.
    public var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

    /// localizedNetworkReachabilityStatusString
    ///
    /// The text is in English, like AFNetworking's text without a strings table.
    public var localizedNetworkReachabilityStatusString: String { networkReachabilityStatus.description }

    /// startMonitoring
    ///
    /// - Throws: The errors of ``ReachabilityMonitor/start()``.
    public func startMonitoring() throws(ReachabilityError) { try start() }

    /// stopMonitoring
    public func stopMonitoring() { stop() }

    /// setReachabilityStatusChangeBlock:
    ///
    /// The block receives the current status, then each change, on the global concurrent executor. It replaces the previous one
    /// and remains across ``stopMonitoring()`` and ``startMonitoring()``. No call begins after ``stopMonitoring()`` has returned,
    /// until monitoring starts again; if the block is set while the monitor is stopped, it receives the last status. Nil removes
    /// the block.
    public func setReachabilityStatusChangeBlock(_ block: (@Sendable (NetworkReachabilityStatus) -> Void)?) {
        let former = changeBlock.withLock { $0.replace(block) }
        former.observation?.cancel()
        if block != nil { callChangeBlock(with: hub.subscribe()) }
    }

    /// Calls the block, if any, with the statuses of a subscription, unless it observes a later one.
    func callChangeBlock(with subscription: StatusSubscription) {
        changeBlock.withLock { $0.endObservation(before: subscription) }?.cancel()
        // Another thread may have begun an observation meanwhile.
        changeBlock.withLock { $0.observe(subscription) }?.cancel()
    }
}

/// AFNetworkReachabilityStatus with its numbers.
public enum NetworkReachabilityStatus: Int, Sendable, CustomStringConvertible {
    /// AFNetworkReachabilityStatusUnknown
    case unknown = -1
    /// AFNetworkReachabilityStatusNotReachable
    case notReachable = 0
    /// AFNetworkReachabilityStatusReachableViaWWAN: through a mobile network, even within a tunnel.
    case reachableViaWWAN = 1
    /// AFNetworkReachabilityStatusReachableViaWiFi: through any other network.
    case reachableViaWiFi = 2

    /// Creates the value for a status.
    public init(_ status: ReachabilityStatus) {
        guard let path = status.path else {
            self = status.isKnown ? .notReachable : .unknown
            return
        }
        self = path.kind == .cellular || path.underlyingKind == .cellular ? .reachableViaWWAN : .reachableViaWiFi
    }

    /// AFStringFromNetworkReachabilityStatus
    public var description: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachableViaWWAN: "Reachable via WWAN"
        case .reachableViaWiFi: "Reachable via WiFi"
        }
    }
}

/// The block of a monitor, and its latest observation.
///
/// Observations are cancelled and released without the lock, because objects that they hold may call the monitor.
struct StatusChangeBlock: Sendable {
    private var block: (@Sendable (NetworkReachabilityStatus) -> Void)?
    private(set) var observation: ReachabilityMonitor.Observation?
    /// The run of the latest observation, and whether it subscribed while the monitor was stopped.
    private var latest: (run: UInt64, isLate: Bool)?

    /// Replaces the block, and ends its observation. Returns the former ones.
    mutating func replace(_ block: (@Sendable (NetworkReachabilityStatus) -> Void)?) -> StatusChangeBlock {
        let former = self
        self.block = block
        observation = nil
        return former
    }

    /// Ends the observation if a subscription replaces it, and returns it.
    mutating func endObservation(before subscription: StatusSubscription) -> ReachabilityMonitor.Observation? {
        guard isCurrent(subscription) else { return nil }
        defer { observation = nil }
        return observation
    }

    /// Observes a subscription, unless a later run is observed. Returns the former observation.
    ///
    /// The thread that starts the monitor and the thread that sets the block may come in any order.
    mutating func observe(_ subscription: StatusSubscription) -> ReachabilityMonitor.Observation? {
        guard let block, isCurrent(subscription) else { return nil }
        let former = observation
        latest = (run: subscription.run, isLate: subscription.isLate)
        observation = ReachabilityMonitor.Observation(subscription, on: nil) { block(NetworkReachabilityStatus($0)) }
        return former
    }

    /// Whether no later subscription was observed.
    private func isCurrent(_ subscription: StatusSubscription) -> Bool {
        guard let latest, subscription.run <= latest.run else { return true }
        return subscription.run == latest.run && (latest.isLate || !subscription.isLate)
    }
}
