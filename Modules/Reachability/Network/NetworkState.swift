/// The links, addresses and default routes that the kernel reported.
///
/// The state is built from dumps. A notification only indicates that a new dump is needed, because the kernel removes IPv4
/// routes without a notification when their link or source address is removed.
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

    /// Processes a notification, and returns whether the status may have changed, so that a new dump is needed.
    ///
    /// Most notifications (router advertisements, wireless scans) repeat what is known and need none.
    mutating func notice(_ content: NetlinkMessage.Content) -> Bool {
        switch content {
        case .link(let update):
            let link = links[update.index]?.updated(by: update) ?? NetworkLink(update)
            return links.updateValue(link, forKey: update.index) != link
        case .linkRemoved(let index):
            return links.removeValue(forKey: index) != nil
        case .address(let address, let isUsable):
            return addresses.updateValue(isUsable, forKey: address) != isUsable
        case .addressRemoved(let address):
            return addresses.removeValue(forKey: address) != nil
        case .defaultRoute, .defaultRouteRemoved, .nexthopChanged, .overrun, .error:
            return true
        case .done, .irrelevant:
            return false
        }
    }
}

extension NetworkState {
    /// Derives the status from the state.
    ///
    /// The preferred default route determines the interface: the table `main` before `default`, a pair of halves before a
    /// whole route, then the lowest metric, then IPv4 before IPv6, then the lowest interface index.
    func status(classify: (NetworkLink) -> ReachabilityStatus.Kind) -> ReachabilityStatus {
        let routes = NetworkFamily.allCases.compactMap(preferredRoute)
        guard let best = routes.min(by: { $0.rank < $1.rank }), let link = links[best.interface] else {
            return .notReachable
        }
        let families = Set(routes.map(\.family)).filter(hasSourceAddress)
        return .reachable(
            via: classify(link),
            interfaceName: link.name,
            supportsIPv4: families.contains(.ipv4),
            supportsIPv6: families.contains(.ipv6)
        )
    }

    private func preferredRoute(_ family: NetworkFamily) -> NetworkRoute? {
        let usable = routes.filter { $0.family == family && links[$0.interface]?.isUp == true }
        return usable.filter { $0.isWhole || $0.completesHalf(in: usable) }.min { $0.rank < $1.rank }
    }

    /// Whether any link that is up has a usable address. The kernel also uses other interfaces' addresses as a source.
    private func hasSourceAddress(_ family: NetworkFamily) -> Bool {
        addresses.contains { address, isUsable in
            isUsable && address.family == family && address.reachesBeyondLink && links[address.interface]?.isUp == true
        }
    }
}

extension NetworkRoute {
    fileprivate var isWhole: Bool { destination == .everything }

    /// Whether the other half uses the same interface.
    fileprivate func completesHalf(in routes: Set<NetworkRoute>) -> Bool {
        let wanted: Destination = destination == .lowerHalf ? .upperHalf : .lowerHalf
        return routes.contains { $0.destination == wanted && $0.table == table && $0.interface == interface }
    }

    fileprivate var rank: (Int, Int, UInt32, Int, Int32) {
        (table == .main ? 0 : 1, isWhole ? 1 : 0, metric, family == .ipv4 ? 0 : 1, interface)
    }
}
