import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(5))) struct InterfaceClassifierTests {
    struct Example: Sendable {
        var name: String
        var driverKind: String?
        var hardwareType: UInt16 = 1
        var flags: UInt32 = 0x41
        var facts = InterfaceFacts()
        var kind: ReachabilityStatus.Kind
    }

    @Test(arguments: [
        Example(name: "eth0", kind: .ethernet),
        Example(name: "enp3s0", kind: .ethernet),
        Example(name: "eth0", driverKind: "veth", kind: .ethernet),
        Example(name: "br0", driverKind: "bridge", kind: .bridge),
        Example(name: "bond0", driverKind: "bond", kind: .ethernet),
        Example(name: "eth0.7", driverKind: "vlan", kind: .ethernet),
        Example(name: "tunnelbear", kind: .ethernet),
        Example(name: "wwan0", driverKind: "veth", kind: .ethernet),
        Example(name: "wlan0", facts: .init(isWireless: true), kind: .wifi),
        Example(name: "net7", facts: .init(deviceType: "wlan"), kind: .wifi),
        Example(name: "mon0", hardwareType: 803, kind: .wifi),
        Example(name: "wwan0", hardwareType: 0xFFFE, kind: .cellular),
        Example(name: "usb0", facts: .init(deviceType: "wwan"), kind: .cellular),
        Example(name: "wwp0s20", driverKind: "wwan", kind: .cellular),
        Example(name: "rmnet_data0", hardwareType: 519, kind: .cellular),
        Example(name: "ppp0", hardwareType: 512, facts: .init(hasModem: true), kind: .cellular),
        Example(name: "ppp0", hardwareType: 512, kind: .tunnel),
        Example(name: "ppp0", driverKind: "ppp", hardwareType: 512, kind: .tunnel),
        Example(name: "tun0", driverKind: "tun", hardwareType: 0xFFFE, kind: .tunnel),
        Example(name: "tap0", driverKind: "tun", kind: .tunnel),
        Example(name: "vpn", facts: .init(isTunTap: true), kind: .tunnel),
        Example(name: "home", driverKind: "wireguard", hardwareType: 0xFFFE, kind: .tunnel),
        Example(name: "wg0", kind: .tunnel),
        Example(name: "sit1", driverKind: "sit", hardwareType: 776, kind: .tunnel),
        Example(name: "he", driverKind: "gretap", kind: .tunnel),
        Example(name: "lo", hardwareType: 772, flags: 0x49, kind: .loopback),
        Example(name: "dummy0", driverKind: "dummy", kind: .virtual),
        Example(name: "tun0", driverKind: "dummy", kind: .virtual),
        Example(name: "ib0", hardwareType: 32, kind: .other),
    ])
    func theKindIsDerivedFromTheInterfacesProperties(example: Example) {
        let link = NetworkLink(
            .init(
                index: 2, hardwareType: example.hardwareType, flags: example.flags, name: example.name,
                driverKind: example.driverKind))
        #expect(InterfaceClassifier.kind(of: link, facts: example.facts) == example.kind)
    }

    @Test func onlyCellularIsExpensiveByDefault() {
        func status(_ kind: ReachabilityStatus.Kind, _ isExpensive: Bool? = nil) -> ReachabilityStatus {
            .reachable(
                via: kind, interfaceName: "x", supportsIPv4: true, supportsIPv6: false, isExpensive: isExpensive)
        }
        #expect(status(.cellular).isExpensive)
        #expect(!status(.wifi).isExpensive)
        #expect(status(.wifi, true).isExpensive)
        #expect(status(.cellular).description == "reachable via cellular (x, IPv4, expensive)")
    }

    @Test func unknownDiffersFromNotReachable() {
        #expect(ReachabilityStatus.unknown != .notReachable)
        #expect(ReachabilityStatus.unknown.description == "unknown")
        #expect(ReachabilityStatus.notReachable.description == "not reachable")
    }
}
