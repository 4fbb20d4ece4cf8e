/// Whether and how the machine can reach the network at one point in time.
///
/// A ``ReachabilityMonitor`` reports a status only when it differs from the previous one.
public struct ReachabilityStatus: Hashable, Sendable {
    /// Whether the status has been determined.
    ///
    /// It is false for ``unknown`` only, which no ``ReachabilityMonitor`` reports.
    public let isKnown: Bool

    /// Whether an IPv4 or IPv6 default route uses an interface that is up.
    ///
    /// It says that packets can leave the machine, not that a particular server answers.
    public let isReachable: Bool

    /// The kind of the interface that the preferred default route uses; nil when the network is not reachable.
    public let kind: Kind?

    /// The name of the interface that the preferred default route uses, such as `eth0`; nil when the network is not
    /// reachable.
    public let interfaceName: String?

    /// Whether an IPv4 default route is usable and the machine has an IPv4 address to send from.
    public let supportsIPv4: Bool

    /// Whether an IPv6 default route is usable and the machine has an IPv6 address to send from.
    ///
    /// Link-local and tentative addresses (RFC 4862, 5.4) do not count.
    public let supportsIPv6: Bool

    /// Whether traffic is likely to be billed by volume, as on a cellular network.
    public let isExpensive: Bool

    /// The status before the first determination.
    public static let unknown = ReachabilityStatus(isKnown: false)

    /// The status of a machine without a usable default route.
    public static let notReachable = ReachabilityStatus(isKnown: true)

    /// Creates the status of a machine with a usable default route.
    ///
    /// - Parameters:
    ///   - kind: The kind of the interface.
    ///   - interfaceName: The name of the interface.
    ///   - supportsIPv4: Whether IPv4 can be used.
    ///   - supportsIPv6: Whether IPv6 can be used.
    ///   - isExpensive: Whether traffic is billed by volume. Nil, the default, derives it from the kind.
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
    /// A single line for logs, such as `reachable via ethernet (eth0, IPv4, IPv6)`.
    public var description: String {
        guard isReachable, let kind else { return isKnown ? "not reachable" : "unknown" }
        let families = (supportsIPv4 ? ["IPv4"] : []) + (supportsIPv6 ? ["IPv6"] : [])
        let details = [interfaceName].compactMap { $0 } + families + (isExpensive ? ["expensive"] : [])
        return details.isEmpty
            ? "reachable via \(kind)" : "reachable via \(kind) (\(details.joined(separator: ", ")))"
    }
}

extension ReachabilityStatus {
    /// The kind of a network interface.
    ///
    /// Kinds may be added, so a `switch` needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, such as `ethernet`.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// A wired network, or a virtual interface that carries Ethernet frames: bridge, veth, VLAN, bond, macvlan.
        ///
        /// Containers and virtual machines usually report this kind, regardless of the connection of their host.
        public static let ethernet = Kind("ethernet")

        /// A wireless local network (IEEE 802.11).
        public static let wifi = Kind("wifi")

        /// A mobile network through a modem.
        public static let cellular = Kind("cellular")

        /// A virtual private network or another tunnel: WireGuard, tun and tap, PPP, SIT, GRE, VXLAN, XFRM.
        public static let tunnel = Kind("tunnel")

        /// The loopback interface.
        public static let loopback = Kind("loopback")

        /// Any other interface, such as a dummy device.
        public static let other = Kind("other")
    }
}
