import Glibc
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite(.enabled(if: NetworkNamespace.areAvailable, "needs root and iproute2 to make network namespaces"))
    struct NamespaceTests {
        private let namespace: NetworkNamespace

        init() throws { namespace = try NetworkNamespace() }

        @Test func anEmptyNamespaceIsNotReachable() async throws {
            #expect(try await namespace.makeMonitor().status == .notReachable)
        }

        @Test func aDefaultRouteMakesTheNetworkReachable() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            let monitor = try await namespace.makeMonitor()
            var statuses = monitor.statuses.makeAsyncIterator()
            #expect(try await statuses.next() == .notReachable)
            try namespace.ip("route add default via 10.9.0.1")
            let reachable = try #require(try await statuses.next())
            #expect(reachable.description == "reachable via ethernet (lan, IPv4)")
            #expect(reachable.path?.gateway == "10.9.0.1")
            #expect(reachable.path?.sourceAddress == "10.9.0.2")
            #expect(monitor.status == reachable)
            try namespace.ip("route del default")
            #expect(try await statuses.next() == .notReachable)
        }

        @Test func anIPv6DefaultRouteIsSufficient() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.ip("-6 address add 2001:db8::2/64 dev lan nodad")
            let monitor = try await namespace.makeMonitor()
            try namespace.ip("-6 route add default via 2001:db8::1")
            let status = await monitor.statuses.first { $0.isReachable }
            #expect(status?.supportsIPv6 == true)
            #expect(status?.supportsIPv4 == false)
        }

        @Test func aLinkThatGoesDownLosesItsRoutePermanently() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.addPair("other", address: "10.9.1.2/24")
            try namespace.ip("route add default via 10.9.0.1")
            let monitor = try await namespace.makeMonitor()
            var statuses = monitor.statuses.makeAsyncIterator()
            #expect(try await statuses.next()?.interfaceName == "lan")
            try namespace.ip("link set lan down")
            #expect(try await statuses.next() == .notReachable)
            // The kernel has removed the IPv4 route without a notification, so the link alone does not restore it.
            try namespace.ip("link set lan up")
            try namespace.ip("route add default via 10.9.1.1")
            #expect(try await statuses.next()?.interfaceName == "other")
        }

        @Test func aRemovedAddressRemovesItsRoute() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.ip("route add default via 10.9.0.1")
            let monitor = try await namespace.makeMonitor()
            #expect(monitor.status.isReachable)
            try namespace.ip("address del 10.9.0.2/24 dev lan")
            #expect(await monitor.statuses.first { !$0.isReachable } == .notReachable)
        }

        @Test func aLostAndRestoredCarrierIsNoticed() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.ip("route add default via 10.9.0.1")
            let monitor = try await namespace.makeMonitor()
            _ = await monitor.statuses.first { $0.isReachable }
            try namespace.ip("link set lan-peer down")
            _ = await monitor.statuses.first { !$0.isReachable }
            try namespace.ip("link set lan-peer up")
            #expect(await monitor.statuses.first { $0.isReachable }?.interfaceName == "lan")
        }

        @Test func aRemovedInterfaceIsNoticed() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.ip("route add default via 10.9.0.1")
            let monitor = try await namespace.makeMonitor()
            try namespace.ip("link del lan")
            #expect(await monitor.statuses.first { !$0.isReachable } == .notReachable)
        }

        @Test func theLowestMetricChoosesTheInterface() async throws {
            try namespace.addPair("slow", address: "10.9.0.2/24")
            try namespace.addPair("fast", address: "10.9.1.2/24")
            try namespace.ip("route add default via 10.9.0.1 metric 600")
            let monitor = try await namespace.makeMonitor()
            var statuses = monitor.statuses.makeAsyncIterator()
            #expect(try await statuses.next()?.interfaceName == "slow")
            try namespace.ip("route add default via 10.9.1.1 metric 100")
            #expect(try await statuses.next()?.interfaceName == "fast")
            try namespace.ip("link set fast down")
            #expect(try await statuses.next()?.interfaceName == "slow")
        }

        @Test func aMultipathRouteSurvivesTheLossOfOneHop() async throws {
            try namespace.addPair("one", address: "10.9.0.2/24")
            try namespace.addPair("two", address: "10.9.1.2/24")
            try namespace.ip("route add default nexthop via 10.9.0.1 nexthop via 10.9.1.1")
            let monitor = try await namespace.makeMonitor()
            #expect(monitor.status.interfaceName == "one")
            try namespace.ip("link set one-peer down")
            #expect(await monitor.statuses.first { $0.interfaceName != "one" }?.interfaceName == "two")
        }

        @Test(arguments: ["unreachable", "blackhole", "prohibit"])
        func aRouteThatForwardsNothingIsIgnored(type: String) async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.ip("route add \(type) default")
            try namespace.ip("route add default via 10.9.0.1 table 100")
            #expect(try await namespace.makeMonitor().status == .notReachable)
        }

        @Test func theLastStateIsReportedAfterAFloodOfChanges() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.addPair("end", address: "10.9.1.2/24")
            let monitor = try await namespace.makeMonitor(debounce: .milliseconds(100))
            let statuses = Task {
                var seen: [ReachabilityStatus] = []
                for await status in monitor.statuses {
                    seen.append(status)
                    if status.interfaceName == "end" { break }
                }
                return seen
            }
            let flood = (0..<500).flatMap { _ in ["route add default via 10.9.0.1", "route del default"] }
            try namespace.ip(batch: flood + ["route add default via 10.9.1.1"])
            let seen = await statuses.value
            #expect(seen.last?.interfaceName == "end")
            // A thousand changes cause one read per second of the flood, and one after it.
            #expect(seen.count < 40)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 != $1 })
        }

        @Test func anObserverIsCalledUntilItIsCancelled() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            let monitor = try await namespace.makeMonitor()
            let (calls, call) = AsyncStream.makeStream(of: Bool.self)
            let observation = monitor.observe { call.yield($0.isReachable) }
            var iterator = calls.makeAsyncIterator()
            #expect(await iterator.next() == false)
            try namespace.ip("route add default via 10.9.0.1")
            #expect(await iterator.next() == true)
            observation.cancel()
            try namespace.ip("route del default")
            _ = await monitor.statuses.first { !$0.isReachable }
            monitor.stop()
            call.finish()
            #expect(await iterator.next() == nil)
        }

        @Test func anOverrunIsReportedAndTheSocketStaysUsable() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            // Without the notifications about IPv6 addresses, which the kernel also sends a second after the interfaces
            // are up.
            let socket = try await namespace.perform { try NetlinkSocket(groups: NetlinkGroup.ipv4Route) }
            var size: Int32 = 1
            setsockopt(socket.descriptor.number, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            try namespace.ip(
                batch: (0..<100).flatMap { _ in ["route add default via 10.9.0.1", "route del default"] })
            var buffer = [UInt8](repeating: 0, count: NetlinkSocket.bufferSize)
            func drain() throws -> [NetlinkSocket.Reception] {
                var receptions: [NetlinkSocket.Reception] = []
                while receptions.last != .nothing { receptions.append(try socket.receive(into: &buffer, waits: false)) }
                return receptions
            }
            #expect(try drain().contains(.overrun))
            try namespace.ip("route add default via 10.9.0.1")
            let after = try drain()
            #expect(after.count > 1 && !after.contains(.overrun))
        }
    }
}
