import CommandSupport
import ExampleSupport
import Foundation
import LinnetTesting
import Testing

private let linnetReach = BuiltProgram("linnet-reach")

/// The built executable, as a user runs it.
@Suite(.timeLimit(.minutes(2)), .enabled(if: linnetReach.exists, "linnet-reach is not beside the tests"))
struct LinnetReachTests {
    private struct Status: Decodable, Equatable {
        var isReachable: Bool
        var kind: String?
        var interface: String?
        var sourceAddress: String?
        var gateway: String?
        var obstacle: String?
        var isResolved: Bool?
    }

    /// Whether namespaces and interfaces can be made here.
    private static let hasNamespaces: Bool = {
        let probe = ["unshare", "-n", "ip", "link", "add", "d0", "type", "veth", "peer", "name", "d1"]
        return (try? Command.run(probe))?.status == 0
    }()

    /// Runs a script in a separate network namespace, where no interface is up. `$reach` is the program.
    private func isolated(_ script: String) async throws -> Command {
        try await Command.run([
            "/usr/bin/env", "reach=\(linnetReach.path)", "timeout", "60", "unshare", "-n", "bash", "-euc", script,
        ])
    }

    private func statuses(_ run: Command) throws -> [Status] {
        try run.text.split(separator: "\n").map { try JSONDecoder().decode(Status.self, from: Data($0.utf8)) }
    }

    private let connects = """
        ip link add d0 type veth peer name d1
        ip address add 10.9.9.1/24 dev d0
        ip link set d0 up
        ip link set d1 up
        ip route add default via 10.9.9.2
        """
    private let connected = Status(
        isReachable: true, kind: "ethernet", interface: "d0", sourceAddress: "10.9.9.1", gateway: "10.9.9.2")

    @Test func theVersionIsThePackages() async throws {
        let run = try await linnetReach.run(["--version"])
        #expect(run.status == 0 && run.text == ToolVersion.text + "\n", "\(run.text)")
    }

    @Test func theWayToTheMachineItselfIsItsLoopback() async throws {
        let run = try await linnetReach.run(["--address", "127.0.0.1", "--once", "--json"])
        #expect(run.status == 0, "\(run.errors)")
        let status = try #require(try statuses(run).first)
        #expect(status.isReachable && status.interface == "lo" && status.kind == "loopback")
        let text = try await linnetReach.run(["--address", "127.0.0.1", "--once"]).text
        #expect(text.hasPrefix("reachable via loopback (lo"), "\(text)")
    }

    @Test func aNameIsResolvedBeforeItsStatusIsPrinted() async throws {
        let run = try await linnetReach.run(["--host", "localhost:80", "--once", "--json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try statuses(run).map(\.isResolved) == [true])
    }

    @Test func resolvingAndRoutingAreNotConnecting() async throws {
        let run = try await linnetReach.run(["--host", "localhost:1", "--once"])
        #expect(run.status == 0 && run.text.hasSuffix("; resolved and routed, not connected (--probe connects)\n"))
    }

    @Test func aProbeConnects() async throws {
        try await withMockServer(.text("")) { server in
            let run = try await linnetReach.run(["--host", "127.0.0.1:\(server.port)", "--once", "--probe"])
            #expect(run.status == 0 && run.text.contains("confirmed)"), "\(run.text) \(run.errors)")
        }
        // No server listens on port 1.
        let run = try await linnetReach.run(["--host", "127.0.0.1:1", "--once", "--probe", "--json"])
        #expect(run.status == 1 && run.text.contains("\"isConfirmed\":false"), "\(run.text) \(run.errors)")
    }

    @Test(.enabled(if: hasNamespaces, "Network namespaces cannot be made here."))
    func onceReportsWhetherTheNetworkIsReachable() async throws {
        let alone = try await isolated("$reach --once --json")
        #expect(alone.status == 1)
        #expect(try statuses(alone).map(\.isReachable) == [false])
        let run = try await isolated(connects + "\n$reach --once --json")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try statuses(run) == [connected])
    }

    @Test(.enabled(if: hasNamespaces, "Network namespaces cannot be made here."))
    func theNameOfAnInterfaceCannotControlTheTerminal() async throws {
        let run = try await isolated(
            #"""
            name=$'d\e\xc2\x9b0'
            ip link add "$name" type veth peer name d1
            ip address add 10.9.9.1/24 dev "$name"
            ip link set "$name" up
            ip link set d1 up
            ip route add default via 10.9.9.2
            $reach --once
            $reach --once --json
            """#)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.text.unicodeScalars.allSatisfy { $0 == "\n" || (0x20...0x7E).contains($0.value) }, "\(run.text)")
        let lines = run.text.split(separator: "\n")
        #expect(lines.first?.hasPrefix("reachable via ethernet (d  0, IPv4") == true)
        let status = try JSONDecoder().decode(Status.self, from: Data((lines.last ?? "").utf8))
        #expect(status.interface == "d\u{1B}\u{9B}0")
    }

    @Test(.enabled(if: hasNamespaces, "Network namespaces cannot be made here."))
    func waitEndsWhenTheNetworkComesOrTheTimeIsOver() async throws {
        let late = try await isolated("$reach --wait 0.2 --json")
        #expect(late.status == 1)
        #expect(try statuses(late).map(\.isReachable) == [false])
        let run = try await isolated("$reach --wait 50 --json & \n" + connects + "\nwait $!")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try statuses(run) == [connected])
    }

    @Test(.enabled(if: hasNamespaces, "Network namespaces cannot be made here."))
    func eachChangeIsALine() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "linnet-reach-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let run = try await isolated(
            """
            lines() { until [ "$(wc -l < \(file))" -ge $1 ]; do sleep 0.02; done; }
            $reach --json > \(file) &
            lines 1
            \(connects)
            lines 2
            ip link set d0 down
            lines 3
            kill $!
            cat \(file)
            """)
        #expect(run.status == 0, "\(run.errors)")
        let statuses = try statuses(run)
        #expect(statuses.count == 3)
        #expect(statuses.map(\.isReachable) == [false, true, false])
        #expect(statuses.dropFirst().first == connected)
    }

    @Test(arguments: [
        ["--host", "a", "--address", "127.0.0.1"], ["--once", "--wait", "1"], ["--wait", "-1"], ["--wait", "nan"],
        ["--address", "example.com"], ["--host", "a b"], ["--host", "a:0"], ["--host", ""], ["more"],
        ["--probe"], ["--probe", "--wait", "1", "--host", "a"],
    ])
    func whatMakesNoSenseIsAUsageError(arguments: [String]) async throws {
        let run = try await linnetReach.run(arguments)
        #expect(run.status == 64, "\(run.text) \(run.errors)")
        #expect(run.output.isEmpty && !run.errors.isEmpty)
    }
}

struct HostAndPortTests {
    @Test(arguments: [
        ("example.com", "example.com:443"), ("example.com:80", "example.com:80"), ("::1", "[::1]:443"),
        ("[2001:db8::1]:8443", "[2001:db8::1]:8443"), ("[::1]", "[::1]:443"),
    ])
    func aHostIsParsed(text: String, expected: String) {
        #expect(HostAndPort(text)?.description == expected)
    }

    @Test(arguments: ["", ":80", "a:", "a:0", "a:65536", "a:x", "a/b", "a b", "[::1", "user@a", "a?b", "a#b"])
    func invalidHostsAreRefused(text: String) {
        #expect(HostAndPort(text) == nil)
    }
}
