import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(5))) struct NetworkStateTests {
    private static let up: UInt32 = 0x41

    private func state(
        links: [Int32: (flags: UInt32, operationalState: UInt8?)], routes: [NetworkRoute],
        addresses: [NetworkAddress] = []
    ) -> NetworkState {
        var state = NetworkState()
        for (index, link) in links {
            state.add(
                .link(
                    .init(
                        index: index, hardwareType: 1, flags: link.flags, name: "if\(index)",
                        operationalState: link.operationalState)))
        }
        state.add(.defaultRoute(routes))
        for address in addresses { state.add(.address(address, isUsable: true)) }
        return state
    }

    private func route(
        _ interface: Int32, metric: UInt32 = 0, family: NetworkFamily = .ipv4, table: NetworkRoute.Table = .main,
        _ destination: NetworkRoute.Destination = .everything
    ) -> NetworkRoute {
        NetworkRoute(family: family, destination: destination, table: table, metric: metric, interface: interface)
    }

    private func interface(_ routes: [NetworkRoute], down: Set<Int32> = []) -> String? {
        let links = Dictionary(
            uniqueKeysWithValues: (1...4).map { ($0, (down.contains($0) ? 0x1 : Self.up, UInt8(6) as UInt8?)) })
        return state(links: links, routes: routes).status().interfaceName
    }

    struct LinkCase: Sendable {
        var flags: UInt32
        var operationalState: UInt8?
        var isUp: Bool
    }

    @Test(arguments: [
        LinkCase(flags: 0x41, operationalState: 6, isUp: true),
        LinkCase(flags: 0x41, operationalState: 0, isUp: true),
        LinkCase(flags: 0x41, operationalState: nil, isUp: true),
        LinkCase(flags: 0x41, operationalState: 2, isUp: false),
        LinkCase(flags: 0x41, operationalState: 3, isUp: false),
        LinkCase(flags: 0x41, operationalState: 5, isUp: false),
        LinkCase(flags: 0x41, operationalState: 255, isUp: false),
        LinkCase(flags: 0x01, operationalState: 6, isUp: false),
        LinkCase(flags: 0x40, operationalState: 6, isUp: false),
        LinkCase(flags: 0x00, operationalState: nil, isUp: false),
    ])
    func aDefaultRouteCountsOnAnInterfaceThatIsUp(link: LinkCase) {
        for family in NetworkFamily.allCases {
            let state = state(links: [2: (link.flags, link.operationalState)], routes: [route(2, family: family)])
            let status = state.status(InterfaceFacts(isWireless: true))
            #expect(status.isReachable == link.isUp)
            #expect(status.kind == (link.isUp ? .wifi : nil))
            #expect(status.interfaceName == (link.isUp ? "if2" : nil))
        }
    }

    @Test func withoutADefaultRouteNothingIsReachable() {
        #expect(interface([]) == nil)
        #expect(state(links: [2: (Self.up, 6)], routes: []).status() == .notReachable)
        #expect(state(links: [:], routes: [route(9)]).status() == .notReachable)
    }

    @Test func theLowestMetricOfUsableRoutesDecides() {
        #expect(interface([route(1, metric: 600), route(2, metric: 100)]) == "if2")
        #expect(interface([route(1, metric: 600), route(2, metric: 100)], down: [2]) == "if1")
        #expect(interface([route(1, metric: 100), route(2, metric: 50, family: .ipv6)]) == "if2")
    }

    @Test func tiesAreBrokenDeterministically() {
        #expect(interface([route(3), route(2), route(4)]) == "if2")
        #expect(interface([route(1, family: .ipv6), route(3)]) == "if3")
    }

    @Test func theMainTableComesFirst() {
        #expect(interface([route(1, table: .default), route(2, metric: 900)]) == "if2")
        #expect(interface([route(1, table: .default), route(2)], down: [2]) == "if1")
    }

    @Test func aRouteThatForwardsNothingHidesRoutesWithAHigherMetric() {
        var refusing = route(0, metric: 200)
        refusing.forwards = false
        #expect(interface([route(1, metric: 100), refusing]) == "if1")
        #expect(interface([route(1, metric: 300), refusing]) == nil)
        #expect(interface([route(1, metric: 100), refusing], down: [1]) == nil)
        let state = state(links: [1: (Self.up, 6)], routes: [route(1, metric: 300), refusing])
        #expect(state.preferredRoute(.ipv4) == nil)
    }

    @Test func twoHalvesTakePrecedenceOverAWholeRoute() {
        let whole = route(1)
        let lower = route(2, metric: 50, .lowerHalf)
        let upper = route(2, metric: 50, .upperHalf)
        #expect(interface([whole, lower, upper]) == "if2")
        #expect(interface([whole, lower]) == "if1")
        #expect(interface([whole, upper]) == "if1")
        #expect(interface([lower]) == nil)
        #expect(interface([whole, lower, upper], down: [2]) == "if1")
        #expect(interface([whole, lower, route(3, .upperHalf)]) == "if1")
        #expect(interface([lower, route(2, family: .ipv6, .upperHalf)]) == nil)
        #expect(interface([whole, lower, route(2, table: .default, .upperHalf)]) == "if1")
    }

    struct FamilyCase: Sendable {
        var address: NetworkAddress
        var supportsIPv4 = false
        var supportsIPv6 = false
    }

    @Test(arguments: [
        FamilyCase(address: .init(family: .ipv4, interface: 2, scope: 0, bytes: [1]), supportsIPv4: true),
        FamilyCase(address: .init(family: .ipv4, interface: 2, scope: 253, bytes: [1]), supportsIPv4: true),
        FamilyCase(address: .init(family: .ipv4, interface: 2, scope: 254, bytes: [1])),
        FamilyCase(address: .init(family: .ipv6, interface: 2, scope: 0, bytes: [1]), supportsIPv6: true),
        FamilyCase(address: .init(family: .ipv6, interface: 2, scope: 253, bytes: [1])),
        FamilyCase(address: .init(family: .ipv6, interface: 3, scope: 0, bytes: [1]), supportsIPv6: true),
        FamilyCase(address: .init(family: .ipv6, interface: 4, scope: 0, bytes: [1])),
    ])
    func aFamilyIsSupportedWithARouteAndAnAddress(example: FamilyCase) {
        let links: [Int32: (flags: UInt32, operationalState: UInt8?)] = [2: (Self.up, 6), 3: (Self.up, 6), 4: (0, 2)]
        let both = [route(2), route(2, family: .ipv6)]
        let status = state(links: links, routes: both, addresses: [example.address]).status()
        #expect(status.isReachable)
        #expect(status.supportsIPv4 == example.supportsIPv4)
        #expect(status.supportsIPv6 == example.supportsIPv6)
        let other = [route(2, family: example.address.family == .ipv4 ? .ipv6 : .ipv4)]
        let without = state(links: links, routes: other, addresses: [example.address]).status()
        #expect(!without.supportsIPv4 && !without.supportsIPv6)
    }
}
