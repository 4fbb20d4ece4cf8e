/// The kind of change that a notification can report.
enum NetworkChange: Int, Comparable, Sendable {
    case nothing
    /// The route to some addresses, but no default route.
    case otherRoutes
    /// Anything.
    case everything

    static func < (one: NetworkChange, other: NetworkChange) -> Bool { one.rawValue < other.rawValue }
}

/// The links, addresses and default routes that the kernel reported.
///
/// The state is built from dumps. A notification only indicates that a new dump is needed, because the kernel removes
/// IPv4 routes without a notification when their link or source address is removed.
struct NetworkState: Hashable, Sendable {
    private(set) var links: [Int32: NetworkLink] = [:]
    private(set) var addresses: [NetworkAddress: Bool] = [:]
    private(set) var routes: Set<NetworkRoute> = []

    /// Adds an object from a dump.
    mutating func add(_ content: NetlinkMessage.Content) {
        if case .defaultRoute(let routes) = content {
            self.routes.formUnion(routes)
        } else {
            _ = notice(content)
        }
    }

    /// Processes a notification, and returns the possible kind of change, after which the state must be read again.
    ///
    /// Most notifications (router advertisements, wireless scans) repeat known facts and change nothing.
    mutating func notice(_ content: NetlinkMessage.Content) -> NetworkChange {
        let isChange: Bool
        switch content {
        case .link(let update):
            let link = links[update.index]?.updated(by: update) ?? NetworkLink(update)
            isChange = links.updateValue(link, forKey: update.index) != link
        case .linkRemoved(let index):
            isChange = links.removeValue(forKey: index) != nil
        case .address(let address, let isUsable):
            isChange = addresses.updateValue(isUsable, forKey: address) != isUsable
        case .addressRemoved(let address):
            isChange = addresses.removeValue(forKey: address) != nil
        case .otherRoute:
            return .otherRoutes
        case .defaultRoute, .defaultRouteRemoved, .ruleChanged, .nexthopChanged, .overrun, .error:
            isChange = true
        case .done, .irrelevant:
            isChange = false
        }
        return isChange ? .everything : .nothing
    }

    /// The number of the interface with a name.
    func index(named name: String) -> Int32? { links.values.first { $0.name == name }?.index }

    /// The number of the loopback interface, which carries packets to the machine's own addresses.
    var loopback: Int32? { links.values.first { $0.isLoopback }?.index }

    /// The interface that has an address.
    func interface(withAddress bytes: [UInt8]) -> Int32? { addresses.keys.first { $0.bytes == bytes }?.interface }
}

extension NetworkState {
    /// The default route of a family that the kernel prefers among routes with an interface that is up; nil if there is
    /// none, or if a route that forwards nothing hides it.
    ///
    /// The order: the table `main` before `default`, a pair of halves before a whole route, then the lowest metric,
    /// then the lowest interface number.
    ///
    /// - Parameter interface: The number of the only interface to consider; nil for all.
    func preferredRoute(_ family: NetworkFamily, over interface: Int32? = nil) -> NetworkRoute? {
        let usable = routes.filter { route in
            guard route.family == family else { return false }
            guard route.forwards else { return interface == nil }
            return links[route.interface]?.isUp == true && (interface ?? route.interface) == route.interface
        }
        let best = usable.filter { $0.isWhole || $0.completesHalf(in: usable) }.min { $0.rank < $1.rank }
        return best?.forwards == true ? best : nil
    }

    /// Whether any link that is up has a usable address. The kernel also uses addresses of other interfaces as a
    /// source.
    func hasSourceAddress(_ family: NetworkFamily) -> Bool {
        addresses.contains { address, isUsable in
            isUsable && address.family == family && address.reachesBeyondLink && links[address.interface]?.isUp == true
        }
    }
}

extension NetworkRoute {
    /// The precedence among default routes; a lower rank comes first.
    var rank: (Int, Int, UInt32, Int, Int32) {
        (table == .main ? 1 : 2, isWhole ? 1 : 0, metric, family == .ipv4 ? 0 : 1, interface)
    }

    fileprivate var isWhole: Bool { destination == .everything }

    /// Whether the other half uses the same interface.
    fileprivate func completesHalf(in routes: Set<NetworkRoute>) -> Bool {
        let wanted: Destination = destination == .lowerHalf ? .upperHalf : .lowerHalf
        return routes.contains { $0.destination == wanted && $0.table == table && $0.interface == interface }
    }
}
