import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(1))) struct NetworkDestinationTests {
    @Test(arguments: ["192.0.2.1", "2001:db8::1", "::1", "fe80::1", "ff02::1"])
    func anAddressKeepsItsText(text: String) throws {
        let destination = try #require(NetworkDestination(text))
        #expect(NetworkDestination.text(destination.bytes) == text)
        #expect(destination.zone == nil)
    }

    @Test func aZoneIsANameOrANumber() {
        #expect(NetworkDestination("fe80::1%eth0")?.zone == .name("eth0"))
        #expect(NetworkDestination("fe80::1%7")?.zone == .index(7))
    }

    @Test(arguments: [
        "", "example.com", "192.0.2", "192.0.2.256", "192.0.2.1%eth0", "::1%", "%", "[::1]", "1::2::3", " ::1", "::1\0",
    ])
    func otherTextIsRefused(text: String) {
        #expect(NetworkDestination(text) == nil)
        #expect {
            try ReachabilityMonitor(address: text)
        } throws: {
            ($0 as? ReachabilityError)?.code == .invalidAddress
        }
    }

    @Test func linkLocalAddressesAreRecognized() {
        func isLinkLocal(_ text: String) -> Bool? { NetworkDestination(text)?.isLinkLocal }
        #expect(isLinkLocal("fe80::1") == true)
        #expect(isLinkLocal("febf::1") == true)
        #expect(isLinkLocal("ff02::1") == true)
        #expect(isLinkLocal("fec0::1") == false)
        #expect(isLinkLocal("2001:db8::1") == false)
        #expect(isLinkLocal("169.254.0.1") == false)
    }

    @Test func aSocketAddressKeepsTheDestination() {
        for text in ["192.0.2.1", "2001:db8::1"] {
            guard let destination = NetworkDestination(text) else { continue }
            #expect(SocketAddress(destination, interface: 0).destination == destination)
        }
        let zoned = NetworkDestination("fe80::1%7")
        #expect(zoned.flatMap { SocketAddress($0, interface: 7).destination } == zoned)
    }
}
