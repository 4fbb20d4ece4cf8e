import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(5))) struct NetlinkParserTests {
    typealias Content = NetlinkMessage.Content

    private func contents(_ bytes: MessageBytes) -> [Content] {
        NetlinkDatagram(bytes.bytes[...]).messages.map(\.content)
    }

    @Test func aLinkIsReadWithItsAttributes() {
        let info = MessageBytes.attribute(1, MessageBytes.text("wireguard")) + MessageBytes.attribute(2, [1, 2, 3])
        let message = MessageBytes.link(
            7, hardwareType: 0xFFFE, flags: 0x91,
            attributes: [
                MessageBytes.attribute(3, MessageBytes.text("wg0")), MessageBytes.attribute(16, [6]),
                MessageBytes.attribute(18 | 0x8000, info), MessageBytes.attribute(99, []),
            ])
        #expect(
            contents(message) == [
                .link(
                    .init(
                        index: 7, hardwareType: 0xFFFE, flags: 0x91, name: "wg0", driverKind: "wireguard",
                        operationalState: 6))
            ])
    }

    @Test func aBridgePortThatLeavesItsBridgeIsNotARemovedLink() {
        #expect(contents(.link(7, type: 17, family: 7)) == [.irrelevant])
        #expect(contents(.link(7, type: 17)) == [.linkRemoved(index: 7)])
    }

    @Test func theLocalAddressTakesPrecedenceOverThePeers() {
        let peer = MessageBytes.attribute(1, [10, 0, 0, 2])
        let local = MessageBytes.attribute(2, [10, 0, 0, 1])
        let address = NetworkAddress(family: .ipv4, interface: 3, scope: 0, bytes: [10, 0, 0, 1])
        #expect(contents(.address(3, attributes: [peer, local])) == [.address(address, isUsable: true)])
        #expect(contents(.address(3, attributes: [local, peer])) == [.address(address, isUsable: true)])
        #expect(contents(.address(3, type: 21, attributes: [local])) == [.addressRemoved(address)])
    }

    @Test(arguments: [(0x00, true), (0x40, false), (0x44, true), (0x08, false), (0x48, false), (0x20, true)])
    func theFlagsDetermineWhetherAnAddressIsUsable(flags: UInt32, isUsable: Bool) {
        // The 32-bit flags attribute replaces the 8-bit flags of the header.
        let message = MessageBytes.address(
            3, family: 10, flags: 0x40, attributes: [MessageBytes.attribute(8, MessageBytes.raw(flags))])
        let address = NetworkAddress(family: .ipv6, interface: 3, scope: 0, bytes: [])
        #expect(contents(message) == [.address(address, isUsable: isUsable)])
    }

    private static let toInterface2 = MessageBytes.attribute(4, MessageBytes.raw(Int32(2)))

    private func route(
        _ destination: NetworkRoute.Destination = .everything, family: NetworkFamily = .ipv4,
        table: NetworkRoute.Table = .main, metric: UInt32 = 0, interface: Int32 = 2
    ) -> NetworkRoute {
        NetworkRoute(family: family, destination: destination, table: table, metric: metric, interface: interface)
    }

    @Test func aDefaultRouteIsReadWithItsMetric() {
        let metric = MessageBytes.attribute(6, MessageBytes.raw(UInt32(600)))
        #expect(contents(.route(attributes: [Self.toInterface2, metric])) == [.defaultRoute([route(metric: 600)])])
        #expect(
            contents(.route(family: 10, attributes: [Self.toInterface2])) == [.defaultRoute([route(family: .ipv6)])])
        #expect(contents(.route(type: 25, attributes: [Self.toInterface2])) == [.defaultRouteRemoved])
    }

    @Test func aMultipathRouteContainsItsUsableHops() {
        let hops =
            MessageBytes.hop(2, attributes: MessageBytes.attribute(5, [10, 0, 0, 1]))
            + MessageBytes.hop(3, flags: 0x1) + MessageBytes.hop(4, flags: 0x10) + MessageBytes.hop(5)
        let message = MessageBytes.route(attributes: [MessageBytes.attribute(9, hops)])
        #expect(contents(message) == [.defaultRoute([route(), route(interface: 5)])])
    }

    @Test func halvesOfTheAddressSpaceAreDistinguished() {
        let upper = MessageBytes.attribute(1, [128, 0, 0, 0])
        #expect(
            contents(.route(prefixLength: 1, attributes: [Self.toInterface2])) == [.defaultRoute([route(.lowerHalf)])])
        #expect(
            contents(.route(prefixLength: 1, attributes: [upper, Self.toInterface2]))
                == [.defaultRoute([route(.upperHalf)])])
    }

    @Test func theTableAttributeTakesPrecedenceOverTheHeader() {
        let wide = MessageBytes.attribute(15, MessageBytes.raw(UInt32(51_820)))
        let fallback = MessageBytes.attribute(15, MessageBytes.raw(UInt32(253)))
        #expect(contents(.route(attributes: [Self.toInterface2, wide])) == [.otherRoute])
        #expect(
            contents(.route(attributes: [Self.toInterface2, fallback])) == [.defaultRoute([route(table: .default)])])
    }

    @Test func routesThatForwardNothingHaveNoInterface() {
        var refusing = route(interface: 0)
        refusing.forwards = false
        for type: UInt8 in [6, 7, 8] {
            #expect(contents(.route(routeType: type, attributes: [Self.toInterface2])) == [.defaultRoute([refusing])])
        }
        #expect(contents(.route(routeType: 9, attributes: [Self.toInterface2])) == [.defaultRoute([])])
        #expect(contents(.route(flags: 0x1, attributes: [Self.toInterface2])) == [.defaultRoute([])])
        #expect(contents(.route(flags: 0x10, attributes: [Self.toInterface2])) == [.defaultRoute([])])
    }

    @Test func otherRoutesAreNotDefaultRoutes() {
        #expect(contents(.route(prefixLength: 24, attributes: [Self.toInterface2])) == [.otherRoute])
        #expect(contents(.route(sourceLength: 64, attributes: [Self.toInterface2])) == [.otherRoute])
        #expect(contents(.route(flags: 0x200, attributes: [Self.toInterface2])) == [.irrelevant])
        #expect(contents(.route(table: 255, attributes: [Self.toInterface2])) == [.otherRoute])
        #expect(contents(.route(family: 28, attributes: [Self.toInterface2])) == [.irrelevant])
    }

    @Test func rulesAndLowerInterfacesAreRead() {
        #expect(contents(.message(type: 32, body: [2, 0, 0, 0])) == [.ruleChanged])
        #expect(contents(.message(type: 33, body: [])) == [.ruleChanged])
        let lower = MessageBytes.attribute(5, MessageBytes.raw(Int32(4)))
        let mtu = MessageBytes.attribute(4, MessageBytes.raw(UInt32(1400)))
        let elsewhere = MessageBytes.attribute(37, MessageBytes.raw(Int32(0)))
        let expected = NetworkLink.Update(index: 7, hardwareType: 1, flags: 0x41, mtu: 1400, lower: 4)
        #expect(contents(.link(7, attributes: [lower, mtu])) == [.link(expected)])
        // The number belongs to another namespace.
        let foreign = NetworkLink.Update(index: 7, hardwareType: 1, flags: 0x41, lower: 0)
        #expect(contents(.link(7, attributes: [lower, elsewhere])) == [.link(foreign)])
    }

    @Test func theEndAndErrorsHaveAnErrorNumber() {
        #expect(contents(.message(type: 3, body: MessageBytes.raw(Int32(0)))) == [.done(0)])
        #expect(contents(.message(type: 3, body: [])) == [.done(0)])
        #expect(contents(.message(type: 2, body: MessageBytes.raw(Int32(-16)))) == [.error(-16)])
        #expect(contents(.message(type: 4, body: [])) == [.overrun])
        #expect(contents(.message(type: 1, body: [])) == [.irrelevant])
    }
}
