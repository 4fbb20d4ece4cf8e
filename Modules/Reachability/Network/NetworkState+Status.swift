extension NetworkState {
    /// The status that follows from the state.
    ///
    /// Of all usable default routes the preferred one names the interface: the main table's before the default table's, a
    /// pair of halves before a whole, then the lowest metric; IPv4 before IPv6 and the older interface where all else ties.
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

    /// Whether an address stands on any link that is up: the kernel takes other interfaces' addresses as a source too.
    private func hasSourceAddress(_ family: NetworkFamily) -> Bool {
        addresses.contains { address, isUsable in
            isUsable && address.family == family && address.reachesBeyondLink && links[address.interface]?.isUp == true
        }
    }
}

extension NetworkRoute {
    fileprivate var isWhole: Bool { destination == .everything }

    /// Whether the other half leads to the same interface.
    fileprivate func completesHalf(in routes: Set<NetworkRoute>) -> Bool {
        let wanted: Destination = destination == .lowerHalf ? .upperHalf : .lowerHalf
        return routes.contains { $0.destination == wanted && $0.table == table && $0.interface == interface }
    }

    fileprivate var rank: (Int, Int, UInt32, Int, Int32) {
        (table == .main ? 0 : 1, isWhole ? 1 : 0, metric, family == .ipv4 ? 0 : 1, interface)
    }
}
