internal import Glibc

/// A network interface, as far as reachability depends on it.
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
    /// RFC 2863's operational state, in the kernel's numbers; nil when the kernel has not told.
    var operationalState: UInt8?

    /// Whether packets can leave: switched on, running, and its operational state up or unknown.
    ///
    /// Many virtual devices never report a state, so unknown counts as up. Dormant does not: the link waits for something,
    /// such as IEEE 802.1X.
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
    }
}

extension NetworkLink {
    /// What one message says about a link; what it leaves out is as it was.
    ///
    /// A wireless event, for one, is a link message with little more than a name.
    struct Update: Hashable, Sendable {
        var index: Int32
        var hardwareType: UInt16
        var flags: UInt32
        var name: String?
        var driverKind: String?
        var operationalState: UInt8?
    }

    func updated(by update: Update) -> NetworkLink {
        var link = NetworkLink(update)
        link.name = link.name ?? name
        link.driverKind = link.driverKind ?? driverKind
        link.operationalState = link.operationalState ?? operationalState
        return link
    }
}
