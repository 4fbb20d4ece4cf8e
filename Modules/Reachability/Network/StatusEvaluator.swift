/// Derives a status from the network state and the kernel's answers.
struct StatusEvaluator: Sendable {
    let state: NetworkState
    var expensiveInterfaces: Set<String> = []
    var constrainedInterfaces: Set<String> = []

    /// The status for the default routes of the better family.
    func networkStatus(_ source: inout some RouteSource) -> ReachabilityStatus {
        let ways = NetworkFamily.allCases.compactMap { defaultWay($0, &source) }
        guard let best = ways.min(by: { $0.rank < $1.rank }) else { return .notReachable }
        let families = Set(ways.map(\.family)).filter(state.hasSourceAddress)
        return ReachabilityStatus(path: path(best, families, &source))
    }

    /// The status for one address.
    func status(of destination: NetworkDestination, _ source: inout some RouteSource) -> ReachabilityStatus {
        status(of: [destination], &source)
    }

    /// The status for a host with these addresses, in the order of preference: the status of the first one with a path.
    func status(
        of destinations: [NetworkDestination], isResolved: Bool? = nil, _ source: inout some RouteSource
    ) -> ReachabilityStatus {
        var best: Way?
        var families: Set<NetworkFamily> = []
        var obstacle: ReachabilityStatus.Obstacle?
        for destination in destinations {
            switch way(to: destination, &source) {
            case .success(let way):
                best = best ?? way
                if way.hasSource(for: destination) { families.insert(way.family) }
            case .failure(let failure): obstacle = obstacle ?? failure.obstacle
            }
        }
        guard let best else {
            return ReachabilityStatus(obstacle: obstacle ?? .notResolved, isResolved: isResolved)
        }
        return ReachabilityStatus(path: path(best, families, &source), isResolved: isResolved)
    }
}

extension StatusEvaluator {
    /// A usable route to a destination.
    private struct Way {
        var family: NetworkFamily
        var link: NetworkLink
        var route: KernelRoute?
        var rank: (Int, Int, UInt32, Int, Int32) = (0, 0, 0, 0, 0)

        func hasSource(for destination: NetworkDestination) -> Bool {
            guard let source = route?.source else { return false }
            return destination.isLinkLocal || !NetworkDestination.isLinkLocal(source)
        }
    }

    private struct Failure: Error {
        let obstacle: ReachabilityStatus.Obstacle
    }

    /// The way of packets to most destinations.
    ///
    /// VPN clients install a default route in a table that policy rules select. It precedes the default routes of the
    /// tables `main` and `default`. The kernel's look-up of addresses that usually have no route of their own reveals
    /// it.
    private func defaultWay(_ family: NetworkFamily, _ source: inout some RouteSource) -> Way? {
        let samples = family.samples
        var refusals = 0
        // A sample that matches a default route, for the details of the way.
        var usual: NetworkDestination?
        for sample in samples {
            switch source.answer(RouteQuestion(subject: .route, destination: sample)) {
            case .refused: refusals += 1
            case .route(let match) where match.prefixLength == 0 && NetworkRoute.Table(match.table) == nil:
                return policyWay(to: sample, match, &source)
            case .route(let match) where match.prefixLength <= 1: usual = usual ?? sample
            case .route, .unknown: break
            }
        }
        // Rules or routes that forward nothing hide the default routes.
        if refusals == samples.count { return nil }
        guard let preferred = state.preferredRoute(family), let link = state.links[preferred.interface] else {
            return nil
        }
        var way = Way(family: family, link: link, rank: preferred.rank)
        if let usual,
            case .route(let route) = source.answer(
                RouteQuestion(destination: usual, interface: preferred.interface)),
            route.interface == preferred.interface
        {
            way.route = route
            // Without another address, the kernel takes a link-local one, to which no answer comes back.
            if route.source.map(NetworkDestination.isLinkLocal) == true { way.route?.source = nil }
        }
        return way
    }

    private func policyWay(
        to sample: NetworkDestination, _ match: KernelRoute, _ source: inout some RouteSource
    ) -> Way? {
        guard match.type == KernelRoute.unicast, case .success(var way) = way(to: sample, &source) else { return nil }
        way.rank = (0, 1, match.metric, way.family == .ipv4 ? 0 : 1, way.link.index)
        return way
    }

    private func way(
        to destination: NetworkDestination, _ source: inout some RouteSource
    ) -> Result<Way, Failure> {
        var question = RouteQuestion(destination: destination)
        if let zone = destination.zone {
            guard let index = index(of: zone) else { return .failure(Failure(obstacle: .noRoute)) }
            question.interface = index
        }
        switch source.answer(question) {
        case .refused(let number): return .failure(Failure(obstacle: .init(errorNumber: number)))
        case .unknown: return .failure(Failure(obstacle: .noRoute))
        case .route(let route):
            if let obstacle = ReachabilityStatus.Obstacle(routeType: route.type) {
                return .failure(Failure(obstacle: obstacle))
            }
            // The machine's own addresses can be reached while their interfaces are down.
            guard let link = state.links[route.interface], link.isUp || route.type == KernelRoute.local else {
                return .failure(Failure(obstacle: .linkDown))
            }
            return .success(Way(family: destination.family, link: link, route: route))
        }
    }

    private func index(of zone: NetworkDestination.Zone) -> Int32? {
        switch zone {
        case .index(let index): index
        case .name(let name): state.index(named: name)
        }
    }
}

extension StatusEvaluator {
    private func path(
        _ way: Way, _ families: Set<NetworkFamily>, _ source: inout some RouteSource
    ) -> ReachabilityPath {
        let kind = kind(of: way.link, &source)
        let underlying = underlyingKind(of: way.link, kind, &source)
        let name = way.link.name
        func isListed(_ names: Set<String>) -> Bool { name.map(names.contains) ?? false }
        return ReachabilityPath(
            interfaceName: name,
            kind: kind,
            underlyingKind: underlying,
            sourceAddress: way.route?.source.flatMap(NetworkDestination.text),
            gateway: way.route?.gateway.flatMap(NetworkDestination.text),
            mtu: (way.route?.mtu ?? way.link.mtu).map(Int.init),
            supportsIPv4: families.contains(.ipv4),
            supportsIPv6: families.contains(.ipv6),
            isExpensive: kind == .cellular || underlying == .cellular || isListed(expensiveInterfaces),
            isConstrained: isListed(constrainedInterfaces)
        )
    }

    private func kind(of link: NetworkLink, _ source: inout some RouteSource) -> ReachabilityStatus.Kind {
        InterfaceClassifier.kind(of: link, facts: source.facts(of: link))
    }

    private func underlyingKind(
        of link: NetworkLink, _ kind: ReachabilityStatus.Kind, _ source: inout some RouteSource
    ) -> ReachabilityStatus.Kind? {
        if let lower = InterfaceClassifier.lower(of: link, kind).flatMap({ state.links[$0] }) {
            return self.kind(of: lower, &source)
        }
        guard kind == .tunnel else { return nil }
        var carriers: [(route: NetworkRoute, kind: ReachabilityStatus.Kind)] = []
        for interface in Set(state.routes.map(\.interface)) {
            guard let link = state.links[interface] else { continue }
            let kind = self.kind(of: link, &source)
            guard kind != .tunnel else { continue }
            carriers += NetworkFamily.allCases.compactMap { family in
                state.preferredRoute(family, over: interface).map { ($0, kind) }
            }
        }
        return carriers.min { $0.route.rank < $1.route.rank }?.kind
    }
}

extension NetworkFamily {
    /// Addresses for which hardly any network has a route of its own: one for documentation (RFC 5737, RFC 3849), and
    /// one of a root name server, because networks can block the former. Nothing is sent to them.
    fileprivate var samples: [NetworkDestination] {
        let texts =
            switch self {
            case .ipv4: ["192.0.2.1", "198.41.0.4"]
            case .ipv6: ["2001:db8::1", "2001:503:ba3e::2:30"]
            }
        return texts.compactMap(NetworkDestination.init)
    }
}
