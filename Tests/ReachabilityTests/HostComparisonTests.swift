import CommandSupport
import FoundationEssentials
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite(.enabled(if: hasIPCommand, "needs iproute2")) struct HostComparisonTests {
        struct Route: Decodable {
            struct Hop: Decodable { var dev: String? }
            var type: String?
            var dev: String?
            var metric: UInt32?
            var nexthops: [Hop]?
            var interfaces: [String] { [dev].compactMap { $0 } + (nexthops ?? []).compactMap(\.dev) }
        }

        struct Link: Decodable {
            var ifindex: Int32
            var ifname: String
            var flags: [String]
            var operstate: String
            var isUp: Bool {
                flags.contains("UP") && !flags.contains("NO-CARRIER") && ["UP", "UNKNOWN"].contains(operstate)
            }
        }

        private func list<Value: Decodable>(_ type: Value.Type, _ arguments: String...) throws -> [Value] {
            let output = try output(of: ["ip", "-j"] + arguments)
            return try JSONDecoder().decode([Value].self, from: Data(output.utf8))
        }

        @Test func theMonitorAgreesWithTheIPCommand() throws {
            let links = try list(Link.self, "link")
            let up = Set(links.filter(\.isUp).map(\.ifname))
            let routes = try ["-4", "-6"]
                .flatMap { try list(Route.self, $0, "route", "show", "default") }
                .filter { ($0.type ?? "unicast") == "unicast" && !up.isDisjoint(with: $0.interfaces) }
            let lowest = routes.map { $0.metric ?? 0 }.min()
            let preferred = routes.filter { $0.metric ?? 0 == lowest }.flatMap(\.interfaces)

            let monitor = try ReachabilityMonitor()
            defer { monitor.stop() }
            let status = monitor.status
            #expect(status.isKnown)
            #expect(status.isReachable == !routes.isEmpty)
            #expect(status.interfaceName.map(preferred.contains) ?? routes.isEmpty)
            #expect(routes.isEmpty || status.kind != nil)
        }

        @Test func theReaderListsTheSameLinks() throws {
            var reader = NetlinkSource(try NetlinkSocket())
            let links = try reader.read().links
            let expected = try list(Link.self, "link")
            #expect(
                links.mapValues(\.name) == Dictionary(uniqueKeysWithValues: expected.map { ($0.ifindex, $0.ifname) }))
            #expect(links.mapValues(\.isUp) == Dictionary(uniqueKeysWithValues: expected.map { ($0.ifindex, $0.isUp) }))
        }

        @Test func aReaderCanReadAgain() throws {
            var reader = NetlinkSource(try NetlinkSocket())
            #expect(try reader.read().links.keys == reader.read().links.keys)
        }
    }

    static let hasIPCommand = (try? output(of: ["ip", "-V"])) != nil
}
