internal import Synchronization

// AFNetworkReachabilityManager's own names. A new program is better served by ``ReachabilityMonitor/status`` and
// ``ReachabilityMonitor/statuses``.
extension ReachabilityMonitor {
    /// managerForDomain:
    ///
    /// - Throws: ``ReachabilityError`` as ``ReachabilityMonitor/init(host:port:_:)``.
    public static func manager(forDomain domain: String) throws(ReachabilityError) -> ReachabilityMonitor {
        try ReachabilityMonitor(host: domain, port: 443)
    }

    /// managerForAddress:
    ///
    /// - Throws: ``ReachabilityError`` as ``ReachabilityMonitor/init(address:_:)``.
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
    /// As in AFNetworking, it is true for every network that is not mobile, such as Ethernet.
    public var isReachableViaWiFi: Bool { networkReachabilityStatus == .reachableViaWiFi }

    /// localizedNetworkReachabilityStatusString
    ///
    /// The text is in English, as AFNetworking's without a strings table.
    public var localizedNetworkReachabilityStatusString: String { networkReachabilityStatus.description }

    /// startMonitoring
    ///
    /// - Throws: ``ReachabilityError`` as ``ReachabilityMonitor/start()``.
    public func startMonitoring() throws(ReachabilityError) { try start() }

    /// stopMonitoring
    public func stopMonitoring() { stop() }

    /// setReachabilityStatusChangeBlock:
    ///
    /// The block receives the current status, then each change, on the global concurrent executor. It replaces the previous one
    /// and remains across ``stopMonitoring()`` and ``startMonitoring()``. Nil removes it.
    public func setReachabilityStatusChangeBlock(_ block: (@Sendable (NetworkReachabilityStatus) -> Void)?) {
        _ = changeBlock.withLock { $0.replace(block, hub) }
    }
}

/// AFNetworkReachabilityStatus, with its numbers.
public enum NetworkReachabilityStatus: Int, Sendable, CustomStringConvertible {
    /// AFNetworkReachabilityStatusUnknown
    case unknown = -1
    /// AFNetworkReachabilityStatusNotReachable
    case notReachable = 0
    /// AFNetworkReachabilityStatusReachableViaWWAN: through a mobile network, also within a tunnel.
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

/// The block of a monitor, and its registration while the monitor runs.
struct StatusChangeBlock: Sendable {
    private var block: (@Sendable (NetworkReachabilityStatus) -> Void)?
    private var observation: ReachabilityMonitor.Observation?

    /// Returns the former block and its registration, to be released without the lock: what they hold may call the monitor.
    mutating func replace(_ block: (@Sendable (NetworkReachabilityStatus) -> Void)?, _ hub: StatusHub)
        -> StatusChangeBlock
    {
        let former = self
        self.block = block
        resume(hub)
        return former
    }

    /// Observes the current run.
    mutating func resume(_ hub: StatusHub) {
        observation?.cancel()
        observation = block.map { block in
            ReachabilityMonitor.Observation(StatusSequence(hub: hub)) { block(NetworkReachabilityStatus($0)) }
        }
    }
}
