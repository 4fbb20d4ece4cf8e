import Synchronization
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite(.enabled(if: NetworkNamespace.areAvailable, "needs root and iproute2 to make network namespaces"))
    struct NamespaceEngineTests {
        private let namespace: NetworkNamespace

        init() throws { namespace = try NetworkNamespace() }

        @Test func theThreadSleepsWhileNothingChanges() async throws {
            try namespace.ip("link set lo up")
            let hub = StatusHub(status: .unknown)
            let membership = try await namespace.perform {
                var configuration = ReachabilityMonitor.Configuration()
                configuration.debounce = .zero
                let publisher = hub
                return try EngineMembership(of: .network, configuration, .system, to: publisher, run: 1)
            }
            defer { membership.leave() }
            var statuses = StatusSequence(hub: hub).makeAsyncIterator()
            #expect(await statuses.next() == .notReachable)
            try namespace.ip("route add default dev lo")
            #expect(await statuses.next()?.kind == .loopback)
            try namespace.ip("route del default")
            #expect(await statuses.next() == .notReachable)

            // The thread waits again once it has published. Meanwhile another namespace changes all the time.
            let other = try NetworkNamespace()
            try other.ip(batch: (0..<50).flatMap { _ in ["link set lo up", "link set lo down"] })
            let before = membership.wakeUps
            try other.ip(batch: (0..<500).flatMap { _ in ["link set lo up", "link set lo down"] })
            #expect(membership.wakeUps == before)
        }

        @Test func monitorsOfTwoNamespacesHaveTwoViews() async throws {
            let other = try NetworkNamespace()
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.ip("route add default via 10.9.0.1")
            let here = try await namespace.makeMonitor()
            let there = try await other.makeMonitor()
            #expect(here.status.interfaceName == "lan")
            #expect(there.status == .notReachable)
            try namespace.ip("link set lan down")
            #expect(await here.statuses.first { !$0.isReachable } == .notReachable)
            #expect(there.status == .notReachable)
        }

        @Test func aNameIsLookedUpAgainWhenTheNetworkChanges() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            let (lookUps, lookUp) = AsyncStream.makeStream(of: Void.self)
            let answer = NetworkDestination(family: .ipv4, bytes: [10, 7, 0, 1])
            let resolver = HostResolver { _, _ in
                lookUp.yield()
                return [answer]
            }
            let monitor = try await namespace.perform {
                try ReachabilityMonitor(.host("example.com", port: 443), resolver: resolver) {
                    $0.debounce = .zero
                    $0.resolutionInterval = nil
                }
            }
            var calls = lookUps.makeAsyncIterator()
            await calls.next()
            #expect(await monitor.statuses.first { $0.isResolved == true }?.obstacle == .noRoute)
            try namespace.ip("route add default via 10.9.0.1")
            await calls.next()
            let status = await monitor.statuses.first { $0.isReachable }
            #expect(status?.isResolved == true)
            try KernelView(namespace: namespace).check(
                try #require(status), for: ["10.7.0.1"], at: #_sourceLocation)
        }

        @Test func aMonitorJoinsAnEngineWithTheStatusOfThatMoment() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            // The first monitor reports nothing for an hour, once the engine has read its status again.
            let patient = try await namespace.makeMonitor(debounce: .seconds(3600))
            let resolver = HostResolver { _, _ in nil }
            let later = try await namespace.perform {
                try ReachabilityMonitor(.host("example.com", port: 443), resolver: resolver) { _ in }
            }
            // The engine has then served all earlier members.
            _ = await later.statuses.first { $0.isResolved == false }
            later.stop()
            for _ in 0..<10 {
                try namespace.ip("route add default via 10.9.0.1")
                #expect(try await namespace.makeMonitor().status.isReachable)
                try namespace.ip("route del default")
                #expect(try await namespace.makeMonitor().status == .notReachable)
            }
            #expect(patient.status == .notReachable)
        }
    }
}
