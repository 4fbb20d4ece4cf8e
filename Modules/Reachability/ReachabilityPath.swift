/// The way of packets out of the machine, chosen by the kernel's routing.
public struct ReachabilityPath: Hashable, Sendable {
    /// The name of the interface, such as `eth0`.
    public let interfaceName: String?

    /// The kind of the interface.
    public let kind: ReachabilityStatus.Kind

    /// The kind of the interface that carries the traffic of a tunnel, a VLAN or a macvlan; nil if it is unknown.
    ///
    /// It is the interface to which the kernel binds the device. For a tunnel without one, such as a tun device or
    /// WireGuard, it is the interface of the preferred default route that is not a tunnel.
    public let underlyingKind: ReachabilityStatus.Kind?

    /// The address that the kernel selects as the source of packets, such as `192.0.2.7`; nil when there is none.
    public let sourceAddress: String?

    /// The address of the next router; nil when there is none, as for a neighbour or a point-to-point link.
    public let gateway: String?

    /// The size of the largest packet on the path, in bytes: the limit of the route if it has one, or else of the
    /// interface.
    public let mtu: Int?

    /// Whether IPv4 can be used: the kernel has a route and a source address for it.
    public let supportsIPv4: Bool

    /// Whether IPv6 can be used: the kernel has a route and a source address for it.
    ///
    /// Link-local addresses count only for link-local destinations. Tentative addresses (RFC 4862, 5.4) never do.
    public let supportsIPv6: Bool

    /// Whether traffic is likely to be billed by volume: the kind or the underlying kind is cellular, or the interface
    /// is one of ``ReachabilityMonitor/Configuration/expensiveInterfaces``.
    public let isExpensive: Bool

    /// Whether the interface is one of ``ReachabilityMonitor/Configuration/constrainedInterfaces``.
    public let isConstrained: Bool

    init(
        interfaceName: String?, kind: ReachabilityStatus.Kind, underlyingKind: ReachabilityStatus.Kind? = nil,
        sourceAddress: String? = nil, gateway: String? = nil, mtu: Int? = nil, supportsIPv4: Bool, supportsIPv6: Bool,
        isExpensive: Bool, isConstrained: Bool = false
    ) {
        self.interfaceName = interfaceName
        self.kind = kind
        self.underlyingKind = underlyingKind
        self.sourceAddress = sourceAddress
        self.gateway = gateway
        self.mtu = mtu
        self.supportsIPv4 = supportsIPv4
        self.supportsIPv6 = supportsIPv6
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }
}
