import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(5))) struct NetworkNoticeTests {
    private let link = NetworkLink.Update(
        index: 2, hardwareType: 1, flags: 0x1043, name: "eth0", driverKind: "veth", operationalState: 6)
    private let address = NetworkAddress(family: .ipv6, interface: 2, scope: 0, bytes: [1])

    private func knownState() -> NetworkState {
        var state = NetworkState()
        state.add(.link(link))
        state.add(.address(address, isUsable: true))
        return state
    }

    @Test func repeatedNotificationsAreNoChange() {
        var state = knownState()
        #expect(state.notice(.link(link)) == .nothing)
        #expect(state.notice(.address(address, isUsable: true)) == .nothing)
        #expect(state.notice(.irrelevant) == .nothing)
        #expect(state.notice(.linkRemoved(index: 9)) == .nothing)
        #expect(state == knownState())
    }

    @Test func aWirelessEventKeepsOmittedProperties() {
        var state = knownState()
        #expect(state.notice(.link(.init(index: 2, hardwareType: 1, flags: 0x1043, name: "eth0"))) == .nothing)
        #expect(state.links[2]?.driverKind == "veth")
    }

    @Test func irrelevantFlagsAreNoChange() {
        var state = knownState()
        var promiscuous = link
        promiscuous.flags |= 0x100
        #expect(state.notice(.link(promiscuous)) == .nothing)
    }

    @Test func notificationsThatCanChangeTheStatusAreChanges() {
        var down = link
        down.flags = 0x1002
        var dormant = link
        dormant.operationalState = 5
        var renamed = link
        renamed.name = "lan0"
        let changes: [NetlinkMessage.Content] = [
            .link(down), .link(dormant), .link(renamed), .linkRemoved(index: 2), .address(address, isUsable: false),
            .addressRemoved(address), .defaultRoute([]), .defaultRouteRemoved, .ruleChanged, .nexthopChanged, .overrun,
            .error(1),
        ]
        for change in changes {
            var state = knownState()
            #expect(state.notice(change) == .everything, "\(change)")
        }
    }

    @Test func anotherRouteAffectsAddressesOnly() {
        var state = knownState()
        #expect(state.notice(.otherRoute) == .otherRoutes)
        #expect(state == knownState())
    }

    @Test func aChangeIsNoticedOnce() {
        var state = knownState()
        #expect(state.notice(.addressRemoved(address)) == .everything)
        #expect(state.notice(.addressRemoved(address)) == .nothing)
    }
}
