/// A snapshot of how this machine reaches the network.
///
/// Equal snapshots mean the same to a caller: a ``ReachabilityMonitor`` reports only snapshots that differ from the one
/// before.
public struct ReachabilityStatus: Hashable, Sendable {
    /// Whether the status was ever determined.
    ///
    /// False only for ``unknown``, which no ``ReachabilityMonitor`` reports.
    public let isKnown: Bool

    /// Whether a default route, IPv4 or IPv6, stands on an interface that is up.
    ///
    /// It says that packets can leave, not that a certain server answers.
    public let isReachable: Bool

    /// The kind of interface that the preferred default route leads to; nil when nothing is reachable.
    public let kind: Kind?

    /// The name of the interface that the preferred default route leads to, as in `eth0`; nil when nothing is reachable.
    public let interfaceName: String?

    /// Whether an IPv4 default route is usable and the machine has an IPv4 address to send from.
    public let supportsIPv4: Bool

    /// Whether an IPv6 default route is usable and the machine has an IPv6 address to send from.
    ///
    /// Link-local addresses do not count, and neither do those whose uniqueness is still being checked (RFC 4862, 5.4).
    public let supportsIPv6: Bool

    /// Whether traffic is likely to cost by volume, as over a cellular network.
    public let isExpensive: Bool

    /// The status before anything was determined.
    public static let unknown = ReachabilityStatus(isKnown: false)

    /// The status of a machine with no usable default route.
    public static let notReachable = ReachabilityStatus(isKnown: true)

    /// The status of a machine with a usable default route.
    ///
    /// The default for `isExpensive` is what the kind says.
    public static func reachable(
        via kind: Kind,
        interfaceName: String?,
        supportsIPv4: Bool,
        supportsIPv6: Bool,
        isExpensive: Bool? = nil
    ) -> ReachabilityStatus {
        ReachabilityStatus(
            kind: kind,
            interfaceName: interfaceName,
            supportsIPv4: supportsIPv4,
            supportsIPv6: supportsIPv6,
            isExpensive: isExpensive ?? (kind == .cellular)
        )
    }

    private init(isKnown: Bool) {
        self.isKnown = isKnown
        isReachable = false
        kind = nil
        interfaceName = nil
        supportsIPv4 = false
        supportsIPv6 = false
        isExpensive = false
    }

    private init(kind: Kind, interfaceName: String?, supportsIPv4: Bool, supportsIPv6: Bool, isExpensive: Bool) {
        isKnown = true
        isReachable = true
        self.kind = kind
        self.interfaceName = interfaceName
        self.supportsIPv4 = supportsIPv4
        self.supportsIPv6 = supportsIPv6
        self.isExpensive = isExpensive
    }
}

extension ReachabilityStatus: CustomStringConvertible {
    /// One line for a log, as in `reachable via ethernet (eth0, IPv4, IPv6)`.
    public var description: String {
        guard isReachable, let kind else { return isKnown ? "not reachable" : "unknown" }
        let families = (supportsIPv4 ? ["IPv4"] : []) + (supportsIPv6 ? ["IPv6"] : [])
        let details = [interfaceName].compactMap { $0 } + families + (isExpensive ? ["expensive"] : [])
        return details.isEmpty
            ? "reachable via \(kind)" : "reachable via \(kind) (\(details.joined(separator: ", ")))"
    }
}
