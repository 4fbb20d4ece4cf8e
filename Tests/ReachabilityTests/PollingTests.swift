import Glibc
import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(1))) struct ProcNetworkTests {
    private let indices: [String: Int32] = ["eth0": 2, "wlan0": 3, "lo": 1]

    @Test func interfaceNamesAreBeforeTheColon() {
        let text = """
            Inter-|   Receive                                                |  Transmit
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets
                lo: 1110      12    0    0    0     0          0         0     1110      12
              eth0:95123456    65 0
            br-0:1:0 0
            """
        #expect(ProcNetwork.interfaceNames(text) == ["lo", "eth0", "br-0"])
    }

    @Test func ipv4DefaultRoutesAreReadWithTheirMetric() {
        let text = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            eth0\t00000000\t0100090A\t0003\t0\t0\t600\t00000000\t0\t0\t0
            wlan0\t00000080\t0100090A\t0003\t0\t0\t50\t00000080\t0\t0\t0
            *\t00000000\t00000000\t0201\t0\t0\t700\t00000000\t0\t0\t0
            *\t00000000\t00000000\t0001\t0\t0\t800\t00000000\t0\t0\t0
            eth0\t0000090A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
            gone0\t00000000\t0100090A\t0003\t0\t0\t0\t00000000\t0\t0\t0
            eth0\tnonsense
            """
        func route(_ metric: UInt32, _ interface: Int32) -> NetworkRoute {
            NetworkRoute(
                family: .ipv4, destination: .everything, table: .main, metric: metric, interface: interface,
                forwards: interface != 0)
        }
        var half = route(50, 3)
        half.destination = .upperHalf
        #expect(ProcNetwork.ipv4Routes(text, indices) == [route(600, 2), half, route(700, 0), route(800, 0)])
    }

    @Test func ipv6DefaultRoutesAreRead() {
        let zeros = String(repeating: "0", count: 32)
        let text = """
            \(zeros) 00 \(zeros) 00 20010db8000100000000000000000001 00000400 00000002 00000000 00000003       eth0
            \(zeros) 00 \(zeros) 00 \(zeros) ffffffff 00000001 00000000 00200200       lo
            20010db8000100000000000000000000 40 \(zeros) 00 \(zeros) 00000100 00000003 00000000 00000001       eth0
            """
        let expected = [
            NetworkRoute(family: .ipv6, destination: .everything, table: .main, metric: 0x400, interface: 2),
            NetworkRoute(
                family: .ipv6, destination: .everything, table: .main, metric: .max, interface: 0, forwards: false),
        ]
        #expect(ProcNetwork.ipv6Routes(text, indices) == expected)
    }

    @Test func ipv6AddressesAreReadWithScopeAndFlags() {
        let text = """
            20010db8000100000000000000000002 03 40 00 82       eth0
            fe80000000000000887e6efffe25635e 03 40 20 c0       eth0
            short
            zz010db8000100000000000000000002 03 40 00 82       eth0
            """
        let addresses = ProcNetwork.ipv6Addresses(text)
        let usable = addresses.map { content in
            if case .address(let address, let isUsable) = content {
                isUsable && address.reachesBeyondLink
            } else {
                false
            }
        }
        #expect(usable == [true, false])
    }

    @Test func othersBytesAreHandled() {
        for text in ["", "\n\n\n", "\u{0}", String(repeating: ":", count: 100), "a b c d e f g h i j k l"] {
            #expect(ProcNetwork.ipv4Routes(text, indices).isEmpty)
            #expect(ProcNetwork.ipv6Routes(text, indices).isEmpty)
            #expect(ProcNetwork.ipv6Addresses(text).isEmpty)
        }
    }
}

extension LiveTests {
    @Suite(.enabled(if: NetworkNamespace.areAvailable, "needs root and iproute2 to make network namespaces"))
    struct PollingTests {
        private let namespace: NetworkNamespace

        init() throws { namespace = try NetworkNamespace() }

        @Test func pollingReadsTheSameStateAsNetlink() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            try namespace.ip("route add default via 10.9.0.1")
            try namespace.ip("-6 address add fd00:9::2/64 dev lan nodad")
            try namespace.ip("-6 route add default via fd00:9::1 dev lan")
            try namespace.ip("route add prohibit 10.6.0.0/16")
            let (polled, read) = try await namespace.perform {
                var polling = try PollingSource(interval: .seconds(1))
                var netlink = NetlinkSource(try NetlinkSocket())
                return (try Self.statuses(&polling), try Self.statuses(&netlink))
            }
            #expect(polled.map(\.description) == read.map(\.description))
            #expect(polled.map(\.path?.mtu) == read.map(\.path?.mtu))
            #expect(polled.last?.obstacle == .prohibitedRoute)
        }

        private static func statuses(_ source: inout some NetworkSource) throws -> [ReachabilityStatus] {
            let evaluator = StatusEvaluator(state: try source.read())
            let addresses = ["10.7.0.1", "fd00:9::7", "10.9.0.2", "10.6.0.1"].compactMap(NetworkDestination.init)
            return [evaluator.networkStatus(&source)] + addresses.map { evaluator.status(of: $0, &source) }
        }

        @Test func withoutNetlinkAMonitorFailsOrPolls() async throws {
            try namespace.addPair("lan", address: "10.9.0.2/24")
            let (failure, monitor) = try await namespace.perform {
                try Sandbox.forbidNetlink()
                var failure: ReachabilityError?
                do {
                    _ = try ReachabilityMonitor()
                } catch {
                    failure = error as? ReachabilityError
                }
                let monitor = try ReachabilityMonitor {
                    $0.pollingInterval = .milliseconds(100)
                    $0.debounce = .zero
                }
                return (failure, monitor)
            }
            #expect(failure?.code == .socketFailed)
            #expect(failure?.message.contains("pollingInterval") == true)
            #expect(monitor.isPolling)
            #expect(monitor.status == .notReachable)
            try namespace.ip("route add default via 10.9.0.1")
            let status = await monitor.statuses.first { $0.isReachable }
            #expect(status?.description == "reachable via ethernet (lan, IPv4)")
            try namespace.ip("link set lan down")
            #expect(await monitor.statuses.first { !$0.isReachable } == .notReachable)
            monitor.stop()
            #expect(!monitor.isPolling)
        }
    }
}

/// Restricts the system calls of a thread, as container runtimes do.
private enum Sandbox {
    private struct CannotRestrict: Error {}

    /// Makes opening a netlink socket fail with EAFNOSUPPORT on this thread and the threads that it starts.
    static func forbidNetlink() throws {
        // The Glibc module does not export prctl, which has variable arguments.
        typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let symbol = dlsym(nil, "prctl") else { throw CannotRestrict() }
        let control = unsafeBitCast(symbol, to: Control.self)
        // `struct sock_filter`: code, jump if true, jump if false, operand.
        let program: [(UInt16, UInt8, UInt8, UInt32)] = [
            (0x20, 0, 0, 0),  // load the number of the system call
            (0x15, 0, 3, UInt32(socketCall)),
            (0x20, 0, 0, 16),  // load the first argument
            (0x15, 0, 1, UInt32(AF_NETLINK)),
            (0x06, 0, 0, 0x0005_0000 | UInt32(EAFNOSUPPORT)),  // return an error number
            (0x06, 0, 0, 0x7FFF_0000),  // allow
        ]
        var bytes = program.flatMap {
            MessageBytes.raw($0.0) + [$0.1, $0.2] + MessageBytes.raw($0.3)
        }
        let code = bytes.withUnsafeMutableBytes { filter -> Int32 in
            // `struct sock_fprog`: the number of instructions, padding, their address.
            var header =
                MessageBytes.raw(UInt64(program.count)) + MessageBytes.raw(UInt(bitPattern: filter.baseAddress))
            let noNewPrivileges: Int32 = 38
            let secureComputing: Int32 = 22
            _ = control(noNewPrivileges, 1, 0, 0, 0)
            return header.withUnsafeMutableBytes {
                control(secureComputing, 2, UInt(bitPattern: $0.baseAddress), 0, 0)
            }
        }
        guard code == 0 else { throw CannotRestrict() }
    }

    #if arch(x86_64)
    private static let socketCall = 41
    #else
    private static let socketCall = 198
    #endif
}
