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
    /// The operational state (RFC 2863) as the kernel numbers it; nil when it was not reported.
    var operationalState: UInt8?

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
    }

    func updated(by update: Update) -> NetworkLink {
        var link = NetworkLink(update)
        link.name = link.name ?? name
        link.driverKind = link.driverKind ?? driverKind
        link.operationalState = link.operationalState ?? operationalState
        return link
    }
}

/// The version of the internet protocol.
enum NetworkFamily: Hashable, Sendable, CaseIterable {
    case ipv4
    case ipv6

    init?(_ number: UInt8) {
        switch Int32(number) {
        case AF_INET: self = .ipv4
        case AF_INET6: self = .ipv6
        default: return nil
        }
    }

    var number: UInt8 {
        switch self {
        case .ipv4: UInt8(AF_INET)
        case .ipv6: UInt8(AF_INET6)
        }
    }
}

/// An address of this machine.
struct NetworkAddress: Hashable, Sendable {
    var family: NetworkFamily
    var interface: Int32
    var scope: UInt8
    var bytes: [UInt8]

    /// Whether hosts beyond the link can reply to the address.
    ///
    /// An IPv4 address of link scope can be translated by a router, so only host-scope addresses are excluded.
    var reachesBeyondLink: Bool {
        switch family {
        case .ipv4: scope < Self.hostScope
        case .ipv6: scope < Self.linkScope
        }
    }

    /// Whether the kernel uses an address with these flags as a source address.
    static func isUsable(flags: UInt32) -> Bool {
        if flags & duplicateFlag != 0 { return false }
        // An optimistic address can be used while duplicate address detection runs (RFC 4429).
        return flags & tentativeFlag == 0 || flags & optimisticFlag != 0
    }

    private static let linkScope: UInt8 = 253
    private static let hostScope: UInt8 = 254
    private static let optimisticFlag: UInt32 = 0x04
    private static let duplicateFlag: UInt32 = 0x08
    private static let tentativeFlag: UInt32 = 0x40
}

/// A default route, or half of one, through one interface.
struct NetworkRoute: Hashable, Sendable {
    /// The part of the address space that the route covers.
    ///
    /// VPN clients often add two routes for half of the address space each (`0.0.0.0/1` and `128.0.0.0/1`). These take
    /// precedence over the default route, which stays in place.
    enum Destination: Hashable, Sendable {
        case everything
        case lowerHalf
        case upperHalf
    }

    /// A routing table that applies to lookups without marks or source addresses.
    enum Table: Hashable, Sendable {
        case main
        case `default`

        init?(_ number: UInt32) {
            switch number {
            case 254: self = .main
            case 253: self = .default
            default: return nil
            }
        }
    }

    var family: NetworkFamily
    var destination: Destination
    var table: Table
    var metric: UInt32
    var interface: Int32
}
