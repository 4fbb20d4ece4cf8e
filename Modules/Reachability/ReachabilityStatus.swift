/// Whether and how this machine can reach the network, an address or a host at one point in time.
///
/// A ``ReachabilityMonitor`` reports a status only when it differs from the previous one.
public struct ReachabilityStatus: Hashable, Sendable {
    /// Whether the status has been determined.
    ///
    /// It is false for ``unknown`` only, which no ``ReachabilityMonitor`` reports.
    public let isKnown: Bool

    /// The way of packets; nil if the destination is not reachable.
    public let path: ReachabilityPath?

    /// The reason why there is no path to an address or a host; nil if there is a path, and for a monitor of the
    /// network.
    public let obstacle: Obstacle?

    /// Whether the name of the monitored host has an address; nil until the first look-up has ended, and for a monitor
    /// of the network or an address.
    ///
    /// It is independent of ``isReachable``: a name can resolve to addresses without a route.
    public let isResolved: Bool?

    /// Whether the monitor's probe succeeded over this path; nil until it has ended, and without a
    /// ``ReachabilityMonitor/Configuration/probe``.
    public internal(set) var isConfirmed: Bool?

    /// The status before the first determination.
    public static let unknown = ReachabilityStatus(isKnown: false)

    /// The status of a machine without a usable default route.
    public static let notReachable = ReachabilityStatus()

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
            path: ReachabilityPath(
                interfaceName: interfaceName, kind: kind, supportsIPv4: supportsIPv4, supportsIPv6: supportsIPv6,
                isExpensive: isExpensive ?? (kind == .cellular)))
    }

    init(
        isKnown: Bool = true, path: ReachabilityPath? = nil, obstacle: Obstacle? = nil, isResolved: Bool? = nil,
        isConfirmed: Bool? = nil
    ) {
        self.isKnown = isKnown
        self.path = path
        self.obstacle = obstacle
        self.isResolved = isResolved
        self.isConfirmed = isConfirmed
    }
}

extension ReachabilityStatus {
    /// Whether packets can leave the machine for the destination: an IPv4 or IPv6 default route, or the route to the
    /// address or host, uses an interface that is up.
    ///
    /// It does not mean that a server answers.
    public var isReachable: Bool { path != nil }

    /// The kind of the path's interface; nil without a path.
    public var kind: Kind? { path?.kind }

    /// The name of the path's interface, such as `eth0`; nil without a path.
    public var interfaceName: String? { path?.interfaceName }

    /// Whether the path has IPv4. False without a path.
    public var supportsIPv4: Bool { path?.supportsIPv4 ?? false }

    /// Whether the path has IPv6. False without a path.
    public var supportsIPv6: Bool { path?.supportsIPv6 ?? false }

    /// Whether traffic is likely to be billed by volume, as on a cellular network. False without a path.
    public var isExpensive: Bool { path?.isExpensive ?? false }
}

extension ReachabilityStatus: CustomStringConvertible {
    /// A single line for logs, such as `reachable via ethernet (eth0, IPv4, IPv6)`.
    public var description: String {
        guard let path else {
            if !isKnown { return "unknown" }
            return "not reachable" + (obstacle.map { " (\($0))" } ?? "")
        }
        var details = [path.interfaceName].compactMap { $0 }
        if let underlying = path.underlyingKind { details.append("over \(underlying)") }
        if path.supportsIPv4 { details.append("IPv4") }
        if path.supportsIPv6 { details.append("IPv6") }
        if path.isExpensive { details.append("expensive") }
        if path.isConstrained { details.append("constrained") }
        if let isConfirmed { details.append(isConfirmed ? "confirmed" : "not confirmed") }
        return "reachable via \(path.kind)" + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
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

        /// A wired network, or a virtual interface that carries Ethernet frames: veth, VLAN, bond, macvlan.
        ///
        /// Containers and virtual machines usually report this kind, regardless of the connection of their host.
        public static let ethernet = Kind("ethernet")

        /// A wireless local network (IEEE 802.11).
        public static let wifi = Kind("wifi")

        /// A mobile network through a modem.
        public static let cellular = Kind("cellular")

        /// A virtual private network or another tunnel: WireGuard, tun and tap, PPP, SIT, GRE, VXLAN, XFRM.
        public static let tunnel = Kind("tunnel")

        /// A bridge or a virtual switch, common on hosts of virtual machines.
        public static let bridge = Kind("bridge")

        /// The loopback interface.
        public static let loopback = Kind("loopback")

        /// A virtual interface that is connected to no network, such as a dummy device.
        public static let virtual = Kind("virtual")

        /// Any other interface.
        public static let other = Kind("other")
    }

    /// The reason why there is no path to an address or a host.
    ///
    /// Reasons may be added, so a `switch` needs a `default`.
    public struct Obstacle: Hashable, Sendable, CustomStringConvertible {
        /// The reason in words, such as `no route`.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// No route leads to the address.
        public static let noRoute = Obstacle("no route")

        /// The route's type is `unreachable`.
        public static let unreachableRoute = Obstacle("unreachable route")

        /// The route's type is `blackhole`.
        public static let blackholeRoute = Obstacle("blackhole route")

        /// The route's type is `prohibit`.
        public static let prohibitedRoute = Obstacle("prohibited route")

        /// The route uses an interface that is down, or that has lost its carrier.
        public static let linkDown = Obstacle("link down")

        /// The host's name has no address, or could not be looked up.
        public static let notResolved = Obstacle("name not resolved")
    }
}
