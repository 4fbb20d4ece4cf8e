import FoundationEssentials
import Testing

@testable import LinnetReachability

/// The output of `ip -j` in a namespace.
struct KernelView {
    struct Route: Decodable {
        var type: String?
        var dev: String?
        var gateway: String?
        var prefsrc: String?
    }

    struct Link: Decodable {
        var ifname: String
        var flags: [String]
        var operstate: String
        var mtu: Int

        var isUp: Bool { flags.contains("UP") && flags.contains("LOWER_UP") && ["UP", "UNKNOWN"].contains(operstate) }
    }

    struct Addresses: Decodable {
        struct Address: Decodable {
            var family: String
            var local: String
            var scope: String
            var tentative: Bool?
        }

        var ifname: String
        var addresses: [Address]

        private enum CodingKeys: String, CodingKey {
            case ifname
            case addresses = "addr_info"
        }
    }

    let namespace: NetworkNamespace

    /// The result of `ip route get`; nil when the kernel refuses the address.
    func route(to address: String) throws -> Route? {
        do {
            return try list(Route.self, "route get \(address)").first
        } catch is CommandFailure {
            return nil
        }
    }

    func links() throws -> [String: Link] {
        Dictionary(uniqueKeysWithValues: try list(Link.self, "link").map { ($0.ifname, $0) })
    }

    /// The addresses of an interface from which other networks can be reached.
    func addresses(of interface: String, family: String) throws -> [String] {
        try list(Addresses.self, "address")
            .filter { $0.ifname == interface }.flatMap(\.addresses)
            .filter { $0.family == family && $0.scope == "global" && $0.tentative != true }.map(\.local)
    }

    private func list<Value: Decodable>(_ type: Value.Type, _ line: String) throws -> [Value] {
        try JSONDecoder().decode([Value].self, from: Data(try namespace.ip("-j " + line).utf8))
    }
}

extension KernelView {
    /// Checks that a status for one of the addresses, in the order of preference, agrees with the kernel's.
    func check(_ status: ReachabilityStatus, for addresses: [String], at location: SourceLocation) throws {
        let links = try links()
        let routes = try addresses.compactMap { address -> Route? in
            guard let route = try route(to: address), let device = route.dev else { return nil }
            return links[device]?.isUp == true ? route : nil
        }
        #expect(status.isReachable == !routes.isEmpty, "\(status), \(routes)", sourceLocation: location)
        guard let route = routes.first, let device = route.dev, let path = status.path else { return }
        #expect(path.interfaceName == device, sourceLocation: location)
        #expect(path.gateway == route.gateway, sourceLocation: location)
        #expect(path.sourceAddress == route.prefsrc, sourceLocation: location)
        #expect(path.mtu == links[device]?.mtu, sourceLocation: location)
        let families = try (self.addresses(of: device, family: "inet"), self.addresses(of: device, family: "inet6"))
        if path.supportsIPv4 { #expect(!families.0.isEmpty, sourceLocation: location) }
        if path.supportsIPv6 { #expect(!families.1.isEmpty, sourceLocation: location) }
        if let source = path.sourceAddress {
            #expect((families.0 + families.1).contains(source), sourceLocation: location)
        }
    }
}
