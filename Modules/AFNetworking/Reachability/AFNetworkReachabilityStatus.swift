// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are AFNetworking's.

public import LinnetReachability

/// The reachability of a network, an address or a host, with AFNetworking's numbers.
public enum AFNetworkReachabilityStatus: Int, Sendable {
    /// It is not known yet: the manager has never monitored.
    case unknown = -1
    /// There is no network, or no route.
    case notReachable = 0
    /// Through a mobile network, also within a tunnel.
    case reachableViaWWAN = 1
    /// Through any other network, such as Ethernet.
    case reachableViaWiFi = 2

    /// Creates the value for a monitor's status.
    public init(_ status: ReachabilityStatus) {
        guard let path = status.path else {
            self = status.isKnown ? .notReachable : .unknown
            return
        }
        self = path.kind == .cellular || path.underlyingKind == .cellular ? .reachableViaWWAN : .reachableViaWiFi
    }
}

/// Returns the status in words, in English.
public func AFStringFromNetworkReachabilityStatus(_ status: AFNetworkReachabilityStatus) -> String {
    switch status {
    case .unknown: "Unknown"
    case .notReachable: "Not Reachable"
    case .reachableViaWWAN: "Reachable via WWAN"
    case .reachableViaWiFi: "Reachable via WiFi"
    }
}
