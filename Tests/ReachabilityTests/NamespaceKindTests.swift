import CommandSupport
import Glibc
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite(.enabled(if: NetworkNamespace.areAvailable, "needs root and iproute2 to make network namespaces"))
    struct NamespaceKindTests {
        private let namespace: NetworkNamespace

        init() throws { namespace = try NetworkNamespace() }

        /// The arguments of `ip link add`, with the expected kinds.
        private static let devices: [(String, ReachabilityStatus.Kind)] = [
            ("veth", .ethernet), ("bridge", .bridge), ("bond", .ethernet), ("dummy", .virtual), ("ifb", .virtual),
            ("wireguard", .tunnel), ("ipip remote 10.1.1.1 local 10.1.1.2", .tunnel),
            ("gre remote 10.1.1.1 local 10.1.1.2", .tunnel), ("sit remote 10.1.1.1 local 10.1.1.2", .tunnel),
            ("vxlan id 7 dstport 4789", .tunnel), ("xfrm if_id 7", .tunnel),
        ]

        /// The devices that every kernel on which these tests run supports.
        private static let required: Set = ["veth", "bridge"]

        @Test func theKernelsVirtualDevicesAreClassified() async throws {
            var expected: [String: ReachabilityStatus.Kind] = ["lo": .loopback]
            for (number, (device, kind)) in Self.devices.enumerated() {
                let name = "kind-\(number)"
                if try canMake(device, "link add \(name) type \(device)") { expected[name] = kind }
            }
            for mode in ["tun", "tap"] where try canMake(mode, "tuntap add kind-\(mode) mode \(mode)") {
                expected["kind-\(mode)"] = .tunnel
            }
            let links = try await namespace.perform {
                var source = NetlinkSource(try NetlinkSocket())
                return try source.read().links.values
            }
            for link in links {
                guard let name = link.name, let kind = expected[name] else { continue }
                #expect(InterfaceClassifier.kind(of: link, facts: .read(for: link)) == kind, "\(link)")
                expected[name] = nil
            }
            #expect(expected.isEmpty)
        }

        /// Creates a device. A device that this kernel does not support is a known issue; any other failure fails the
        /// test.
        private func canMake(_ device: String, _ line: String) throws -> Bool {
            do {
                try namespace.ip(line)
                return true
            } catch let failure as CommandFailure {
                let reasons = ["Unknown device type", "not supported", "No such file or directory", "No such device"]
                guard !Self.required.contains(device), reasons.contains(where: failure.run.errors.contains) else {
                    throw failure
                }
                withKnownIssue("This kernel does not support \(device).") { Issue.record(failure) }
                return false
            }
        }

        @Test(.enabled(if: access("/dev/net/tun", R_OK | W_OK) == 0, "needs /dev/net/tun"))
        func aTunnelOverTheDefaultRouteIsReportedWhileItIsOpen() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.ip("route add default via 10.9.0.1")
            let monitor = try await namespace.makeMonitor()
            var statuses = monitor.statuses.makeAsyncIterator()
            #expect(try await statuses.next()?.kind == .ethernet)

            let device = try await namespace.perform { try TunnelDevice("vpn") }
            try namespace.ip("address add 10.8.0.2/24 dev vpn")
            try namespace.ip("link set vpn up")
            try namespace.ip("route add 0.0.0.0/1 dev vpn")
            try namespace.ip("route add 128.0.0.0/1 dev vpn")
            let tunnel = await monitor.statuses.first { $0.kind == .tunnel }
            #expect(tunnel?.interfaceName == "vpn")
            #expect(tunnel?.isExpensive == false)
            #expect(tunnel?.path?.underlyingKind == .ethernet)
            #expect(tunnel?.description == "reachable via tunnel (vpn, over ethernet, IPv4)")

            device.close()
            #expect(await monitor.statuses.first { $0.kind != .tunnel }?.interfaceName == "lan")
        }

        @Test func aDefaultRouteOverABridgeIsReported() async throws {
            try namespace.addPair("port", address: "10.9.9.2/24")
            try namespace.ip("link add br0 type bridge")
            try namespace.ip("link set port master br0")
            try namespace.ip("link set br0 up")
            try namespace.ip("address add 10.9.0.2/24 dev br0")
            try namespace.ip("route add default via 10.9.0.1")
            let monitor = try await namespace.makeMonitor()
            let status = await monitor.statuses.first { $0.isReachable }
            #expect(status?.kind == .bridge)
            #expect(status?.interfaceName == "br0")
        }
    }
}

/// A tun device, which exists and has a carrier while its descriptor is open.
private struct TunnelDevice: Sendable {
    struct CannotOpen: Error {}

    private let descriptor: Int32

    init(_ name: String) throws {
        descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC)
        // `struct ifreq`: the name in 16 bytes, then flags: IFF_TUN and IFF_NO_PI.
        var request = Array(name.utf8) + [UInt8](repeating: 0, count: 40 - name.utf8.count)
        request.replaceSubrange(16..<18, with: MessageBytes.raw(UInt16(0x1001)))
        let setInterface: UInt = 0x4004_54CA
        let code = request.withUnsafeMutableBytes { bytes -> Int32 in
            guard let address = bytes.baseAddress else { return -1 }
            return ioctl(descriptor, setInterface, address)
        }
        guard code == 0 else { throw CannotOpen() }
    }

    func close() { Glibc.close(descriptor) }
}
