import Synchronization
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct HostMonitorTests {
        /// Returns scripted results, the last one for all further look-ups.
        private final class ScriptedResolver: Sendable {
            private let results: Mutex<[HostResolver.Result]>
            private let lookUps = Mutex<[String]>([])

            init(_ results: HostResolver.Result...) { self.results = Mutex(results) }

            var resolver: HostResolver {
                HostResolver { [self] host, port in
                    lookUps.withLock { $0.append("\(host):\(port)") }
                    return results.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? nil }
                }
            }

            var names: [String] { lookUps.withLock { $0 } }
        }

        private let loopback = NetworkDestination(family: .ipv4, bytes: [127, 0, 0, 1])
        private let nowhere = NetworkDestination(
            family: .ipv6, bytes: [0xFE, 0x80] + [UInt8](repeating: 0, count: 14), zone: .name("linnet-none"))

        private func makeMonitor(_ resolver: HostResolver) throws -> ReachabilityMonitor {
            try ReachabilityMonitor(.host("example.com", port: 443), resolver: resolver) { $0.debounce = .zero }
        }

        @Test func aHostIsReachableOnceItsNameHasARoutableAddress() async throws {
            let resolver = ScriptedResolver([nowhere, loopback])
            let monitor = try makeMonitor(resolver.resolver)
            let status = await monitor.statuses.first { $0.isResolved != nil }
            #expect(status?.isResolved == true)
            #expect(status?.kind == .loopback)
            #expect(resolver.names == ["example.com:443"])
        }

        @Test func aNameWithoutARouteResolvesAndIsNotReachable() async throws {
            let monitor = try makeMonitor(ScriptedResolver([nowhere]).resolver)
            let status = await monitor.statuses.first { $0.isResolved != nil }
            #expect(status?.isResolved == true)
            #expect(status?.isReachable == false)
            #expect(status?.obstacle == .noRoute)
        }

        @Test func aNameThatIsNotFoundIsTheObstacle() async throws {
            let monitor = try makeMonitor(ScriptedResolver(nil).resolver)
            let status = await monitor.statuses.first { $0.isResolved != nil }
            #expect(status?.isResolved == false)
            #expect(status?.obstacle == .notResolved)
            #expect(status?.description == "not reachable (name not resolved)")
        }

        @Test func aFailedLookUpIsRepeated() async throws {
            let resolver = ScriptedResolver(nil, [loopback])
            let monitor = try makeMonitor(resolver.resolver)
            // The wait does not end with the status of the network, which precedes the host's.
            let status = try await monitor.waitUntilReachable()
            #expect(status.kind == .loopback)
            #expect(status.isResolved == true)
            #expect(resolver.names.count == 2)
            #expect(monitor.currentStatus.isResolved != false)
        }

        @Test func anAddressIsNotLookedUp() throws {
            let resolver = ScriptedResolver(nil)
            let monitor = try ReachabilityMonitor(.host("127.0.0.1", port: 80), resolver: resolver.resolver) { _ in }
            #expect(monitor.status.isResolved == true)
            #expect(monitor.status.kind == .loopback)
            monitor.stop()
            #expect(resolver.names.isEmpty)
        }

        @Test func theSystemResolvesTheNameOfThisMachine() async throws {
            let monitor = try ReachabilityMonitor(host: "localhost", port: 80)
            let status = await monitor.statuses.first { $0.isResolved != nil }
            #expect(status?.kind == .loopback)
        }
    }
}
