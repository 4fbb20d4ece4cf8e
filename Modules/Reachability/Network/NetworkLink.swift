internal import Glibc

/// The properties of a network interface that affect reachability.
struct NetworkLink: Hashable, Sendable {
    var index: Int32
    var name: String?
    /// The kind of virtual device (`IFLA_INFO_KIND`), as in `wireguard`; nil for hardware.
    var driverKind: String?
    /// The `ARPHRD_` number.
    var hardwareType: UInt16
    var isAdministrativelyUp: Bool
    var isRunning: Bool
    var isLoopback: Bool
    /// The operational state (RFC 2863) by the kernel's number; nil when it was not reported.
    var operationalState: UInt8?
    /// The largest packet in bytes; nil when it was not reported.
    var mtu: UInt32?
    /// The number of the interface that carries this one's traffic, as for a VLAN (`IFLA_LINK`); nil or 0 without one.
    var lower: Int32?

    /// Whether the interface can send: administratively up, running, and its operational state up or unknown.
    ///
    /// Unknown counts as up, because many virtual devices never report a state. Dormant does not: the link waits for an
    /// external event, such as IEEE 802.1X authentication.
    var isUp: Bool {
        guard isAdministrativelyUp, isRunning else { return false }
        return operationalState == nil || operationalState == 0 || operationalState == 6
    }

    init(_ update: Update) {
        index = update.index
        name = update.name
        driverKind = update.driverKind
        hardwareType = update.hardwareType
        isAdministrativelyUp = update.flags & UInt32(IFF_UP) != 0
        isRunning = update.flags & UInt32(IFF_RUNNING) != 0
        isLoopback = update.flags & UInt32(IFF_LOOPBACK) != 0
        operationalState = update.operationalState
        mtu = update.mtu
        lower = update.lower
    }
}

extension NetworkLink {
    /// The content of one link message. Properties that it omits are unchanged.
    ///
    /// A wireless event, for example, is a link message with little more than a name.
    struct Update: Hashable, Sendable {
        var index: Int32
        var hardwareType: UInt16
        var flags: UInt32
        var name: String?
        var driverKind: String?
        var operationalState: UInt8?
        var mtu: UInt32?
        var lower: Int32?
    }

    func updated(by update: Update) -> NetworkLink {
        var link = NetworkLink(update)
        link.name = link.name ?? name
        link.driverKind = link.driverKind ?? driverKind
        link.operationalState = link.operationalState ?? operationalState
        link.mtu = link.mtu ?? mtu
        link.lower = link.lower ?? lower
        return link
    }
}
