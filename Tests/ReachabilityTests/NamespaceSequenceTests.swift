import CommandSupport
import Testing

@testable import LinnetReachability

extension LiveTests {
    /// The exact sequence of statuses for changes in a network namespace, each compared with `ip -j`.
    @Suite(.enabled(if: NetworkNamespace.areAvailable, "needs root and iproute2 to make network namespaces"))
    struct NamespaceSequenceTests {
        private let namespace: NetworkNamespace

        init() throws { namespace = try NetworkNamespace() }

        private func addDefault(_ name: String = "lan", address: String = "10.9.0.2/24") throws {
            try namespace.addPair(name, address: address)
            try namespace.ip("route add default via \(address.prefix { $0 != "/" }.dropLast())1 dev \(name)")
        }

        @Test func aLinkGoesDownAndUp() async throws {
            try addDefault()
            var script = try await StatusScript(namespace)
            try await script.expect("reachable via ethernet (lan, IPv4)")
            try await script.expect("not reachable", after: "link set lan down")
            try await script.expect(
                "reachable via ethernet (lan, IPv4)", after: "link set lan up", "route add default via 10.9.0.1")
            await script.end()
        }

        @Test func theCarrierIsLostAtThePeer() async throws {
            try addDefault()
            var script = try await StatusScript(namespace)
            try await script.expect("reachable via ethernet (lan, IPv4)")
            try await script.expect("not reachable", after: "link set lan-peer down")
            try await script.expect("reachable via ethernet (lan, IPv4)", after: "link set lan-peer up")
            await script.end()
        }

        @Test func anAddressIsAddedAndRemoved() async throws {
            try namespace.addPair("lan", address: "169.254.7.7/32 scope host")
            try namespace.ip("route add default dev lan")
            var script = try await StatusScript(namespace)
            try await script.expect("reachable via ethernet (lan)")
            try await script.expect("reachable via ethernet (lan, IPv4)", after: "address add 10.9.0.2/24 dev lan")
            try await script.expect("reachable via ethernet (lan)", after: "address del 10.9.0.2/24 dev lan")
            try await script.expect("not reachable", after: "address del 169.254.7.7/32 dev lan")
            await script.end()
        }

        @Test func theDefaultRouteIsSwitchedBetweenTwoInterfaces() async throws {
            try addDefault("one")
            try namespace.addPair("two", address: "10.9.1.2/24")
            var script = try await StatusScript(namespace)
            try await script.expect("reachable via ethernet (one, IPv4)")
            try await script.expect(
                "reachable via ethernet (two, IPv4)", after: "route replace default via 10.9.1.1 dev two")
            try await script.expect(
                "reachable via ethernet (one, IPv4)", after: "route replace default via 10.9.0.1 dev one")
            await script.end()
        }

        @Test func ipv6AloneIsSufficient() async throws {
            try namespace.addPair("lan", address: "fd00:9::2/64 nodad")
            var script = try await StatusScript(namespace)
            try await script.expect("not reachable")
            try await script.expect(
                "reachable via ethernet (lan, IPv6)", after: "-6 route add default via fd00:9::1 dev lan")
            // A deprecated address is still used when there is no other.
            try script.run("-6 address change fd00:9::2/64 dev lan preferred_lft 0")
            try await script.expect("not reachable", after: "-6 route del default")
            await script.end()
        }

        @Test func aTentativeAddressIsNotUsed() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.ip("-6 address add fd00:9::2/64 dev lan nodad")
            try namespace.ip("-6 route add default via fd00:9::1 dev lan")
            try namespace.ip("-6 address del fd00:9::2/64 dev lan")
            var script = try await StatusScript(namespace)
            try await script.expect("reachable via ethernet (lan)")
            // Duplicate address detection takes a second. The address is tentative until then, which is no status of
            // its own.
            try await script.expect("reachable via ethernet (lan, IPv6)", after: "-6 address add fd00:9::2/64 dev lan")
            await script.end()
        }

        @Test(arguments: [("blackhole", "blackhole"), ("unreachable", "unreachable"), ("prohibit", "prohibited")])
        func aRouteThatForwardsNothingIsTheObstacle(type: String, name: String) async throws {
            try addDefault()
            var script = try await StatusScript(namespace, address: "10.8.0.1")
            try await script.expect("reachable via ethernet (lan, IPv4)")
            try await script.expect("not reachable (\(name) route)", after: "route add \(type) 10.8.0.0/16")
            try await script.expect("reachable via ethernet (lan, IPv4)", after: "route del \(type) 10.8.0.0/16")
            try await script.expect("not reachable (no route)", after: "route del default")
            await script.end()
        }

        @Test(arguments: [("blackhole", "blackhole"), ("unreachable", "unreachable"), ("prohibit", "prohibited")])
        func anIPv6RouteThatForwardsNothingIsTheObstacle(type: String, name: String) async throws {
            try namespace.addPair("lan", address: "fd00:9::2/64 nodad")
            try namespace.ip("-6 route add default via fd00:9::1 dev lan")
            var script = try await StatusScript(namespace, address: "fd00:8::1")
            try await script.expect("reachable via ethernet (lan, IPv6)")
            try await script.expect("not reachable (\(name) route)", after: "-6 route add \(type) fd00:8::/32")
            try await script.expect("reachable via ethernet (lan, IPv6)", after: "-6 route del \(type) fd00:8::/32")
            await script.end()
        }

        @Test func aPolicyRuleSelectsTheWayToAnAddress() async throws {
            try addDefault()
            try namespace.addPair("other", address: "10.9.1.2/24")
            try namespace.ip("route add default via 10.9.1.1 table 77")
            var script = try await StatusScript(namespace, address: "10.5.0.1")
            try await script.expect("reachable via ethernet (lan, IPv4)")
            try await script.expect("reachable via ethernet (other, IPv4)", after: "rule add to 10.5.0.0/16 lookup 77")
            try await script.expect(
                "not reachable (prohibited route)", after: "rule add to 10.5.0.0/16 prohibit priority 50")
            try await script.expect("reachable via ethernet (other, IPv4)", after: "rule del priority 50")
            try await script.expect("reachable via ethernet (lan, IPv4)", after: "rule del to 10.5.0.0/16 lookup 77")
            await script.end()
        }

        @Test func aPolicyRuleSelectsTheDefaultRoute() async throws {
            try addDefault()
            try namespace.addPair("other", address: "10.9.1.2/24")
            try namespace.ip("route add default via 10.9.1.1 table 77")
            var script = try await StatusScript(namespace)
            try await script.expect("reachable via ethernet (lan, IPv4)")
            try await script.expect("reachable via ethernet (other, IPv4)", after: "rule add lookup 77 priority 100")
            // Like a VPN client that blocks all other traffic.
            try await script.expect("not reachable", after: "rule add unreachable priority 50")
            try await script.expect("reachable via ethernet (other, IPv4)", after: "rule del priority 50")
            try await script.expect("reachable via ethernet (lan, IPv4)", after: "rule del priority 100")
            await script.end()
        }

        @Test func aRenamedInterfaceIsReportedByItsNewName() async throws {
            try addDefault()
            var script = try await StatusScript(namespace)
            try await script.expect("reachable via ethernet (lan, IPv4)")
            try await script.expect("not reachable", after: "link set lan down")
            try await script.expect(
                "reachable via ethernet (wan, IPv4)", after: "link set lan name wan", "link set wan up",
                "route add default via 10.9.0.1")
            await script.end()
        }

        @Test func aBridgeIsReportedWhileItHasAPort() async throws {
            try namespace.addPair("port", address: "10.9.9.2/24")
            try namespace.ip("link add br0 type bridge")
            try namespace.ip("link set port master br0")
            try namespace.ip("link set br0 up")
            try namespace.ip("address add 10.9.0.2/24 dev br0")
            var script = try await StatusScript(namespace)
            try await script.expect("not reachable")
            try await script.expect("reachable via bridge (br0, IPv4)", after: "route add default via 10.9.0.1 dev br0")
            try await script.expect("not reachable", after: "link set port nomaster")
            await script.end()
        }

        @Test(arguments: ["vlan id 7", "macvlan"])
        func aStackedDeviceShowsTheLowerDevicesKind(type: String) async throws {
            try namespace.addPair("lan", address: "10.9.9.2/24")
            do {
                try namespace.ip("link add link lan name top type \(type)")
            } catch let failure as CommandFailure where failure.run.errors.contains("Unknown device type") {
                withKnownIssue("This kernel does not support \(type).") { Issue.record(failure) }
                return
            }
            try namespace.ip("link set top up")
            try namespace.ip("address add 10.9.0.2/24 dev top")
            var script = try await StatusScript(namespace)
            try await script.expect("not reachable")
            let status = try await script.expect(
                "reachable via ethernet (top, over ethernet, IPv4)", after: "route add default via 10.9.0.1 dev top")
            #expect(status.path?.underlyingKind == .ethernet)
            try await script.expect("not reachable", after: "link set lan down")
            await script.end()
        }

        @Test func theMTUComesFromTheLink() async throws {
            try addDefault()
            var script = try await StatusScript(namespace)
            try await script.expect("reachable via ethernet (lan, IPv4)")
            let status = try await script.expect("reachable via ethernet (lan, IPv4)", after: "link set lan mtu 1400")
            #expect(status.path?.mtu == 1400)
            await script.end()
        }

        @Test func theZoneOfALinkLocalAddressSelectsTheInterface() async throws {
            try namespace.addPair("one", address: "10.9.0.2/24")
            try namespace.addPair("two", address: "10.9.1.2/24")
            try namespace.ip("-6 address add fe80::7/64 dev two nodad")
            let monitor = try await namespace.perform { try ReachabilityMonitor(address: "fe80::1%two") }
            #expect(monitor.status.interfaceName == "two")
            let other = try await namespace.perform { try ReachabilityMonitor(address: "fe80::1%missing") }
            #expect(other.status.obstacle == .noRoute)
        }
    }
}
