import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import NIOCore
import Synchronization
import Testing

@testable import LinnetTransport

@Suite("Name resolution", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ResolutionTests {
    /// Records hosts, and asks another evaluator.
    private final class Recording: TrustEvaluator {
        let evaluator: any TrustEvaluator
        private let asked = Mutex<[String]>([])

        init(_ evaluator: any TrustEvaluator) { self.evaluator = evaluator }

        var hosts: [String] { asked.withLock { $0 } }

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            asked.withLock { $0.append(trust.host) }
            return await evaluator.evaluate(trust)
        }
    }

    /// Answers for any name and counts.
    private final class Counting: Sendable {
        private let calls = Mutex(0)
        private let answer: NameAnswer

        init(_ answer: NameAnswer) { self.answer = answer }

        var count: Int { calls.withLock { $0 } }

        func lookUp(_ host: String) -> NameAnswer {
            calls.withLock { $0 += 1 }
            return answer
        }
    }

    private func server(
        named name: String, tls identity: TestPKI.Identity? = nil, perform: (MockServer) async throws -> Void
    ) async throws {
        let configuration = MockServer.Configuration {
            $0.hostName = name
            $0.maximumRequestsPerConnection = 1
        }
        try await withMockServer(tls: identity, configuration: configuration) { _ in
            .text("ok")
        } perform: { server in
            try await perform(server)
        }
    }

    /// The answer, cached or queried.
    private func answer(_ names: NameCache, _ host: String) async -> [String] {
        let (stream, continuation) = AsyncStream<NameAnswer>.makeStream()
        if case .answered(let known) = names.lookUp(host, waiter: { continuation.yield($0) }) {
            continuation.yield(known)
        }
        for await answer in stream {
            guard case .addresses(let addresses) = answer else { return [] }
            return addresses.compactMap(\.ipAddress)
        }
        return []
    }

    // MARK: Overrides

    @Test(arguments: [["127.0.0.1"], ["::1", "127.0.0.1"], ["127.0.0.1", "127.0.0.1"]])
    func anOverriddenHostIsConnectedTo(addresses: [String]) async throws {
        try await server(named: "service.test") { server in
            try await withTransport({
                $0.resolution.hostOverrides = ["Service.Test": addresses]
            }) { transport in
                let response = try await transport.send(server.request())
                #expect(response.text == "ok")
                #expect(response.metrics.nameResolution == nil)
                #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            }
            let host = try #require(HTTPField.Name("Host"))
            #expect(server.recordedRequests.first?.headerFields[host] == "service.test:\(server.port)")
        }
    }

    @Test func theCertificateIsJudgedByTheName() async throws {
        let pki = try TestPKI()
        let right = try pki.identity { ($0.hosts, $0.addresses) = (["service.test"], []) }
        // Valid for the address.
        let wrong = try pki.identity { ($0.hosts, $0.addresses) = (["localhost"], ["127.0.0.1"]) }
        for (identity, reason) in [(right, nil), (wrong, TrustRefusal.Reason.hostnameMismatch)] {
            let evaluator = Recording(StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root])))
            try await server(named: "service.test", tls: identity) { server in
                try await withTransport({
                    $0.securityPolicy = .everyHost(evaluator)
                    $0.resolution.hostOverrides = ["service.test": ["127.0.0.1"]]
                }) { transport in
                    let error = await failure { () async throws(TransportError) in
                        try await transport.send(server.request())
                    }
                    #expect(error?.trustRefusal?.reason == reason)
                }
                #expect(server.recordedRequests.map(\.serverName) == (reason == nil ? ["service.test"] : []))
            }
            #expect(evaluator.hosts == ["service.test"])
        }
    }

    @Test(arguments: [
        ["": ["127.0.0.1"]], ["a.test": []], ["a.test": ["b.test"]], ["a.test": ["127.0.0.1", "[::1]"]],
        ["a.test": ["127.0.0.1\0"]],
        ["127.0.0.1": ["127.0.0.2"]], ["::1": ["127.0.0.1"]], ["a.test": ["127.0.0.1"], "A.test.": ["127.0.0.1"]],
    ])
    func overridesThatMakeNoSenseAreRefused(overrides: [String: [String]]) {
        var configuration = TransportConfiguration()
        configuration.resolution.hostOverrides = overrides
        let error = #expect(throws: TransportError.self) { try HTTPTransport(configuration) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func aLifetimeBelowZeroIsRefused() {
        var configuration = TransportConfiguration()
        configuration.resolution.cacheLifetime = .nanoseconds(-1)
        let error = #expect(throws: TransportError.self) { try HTTPTransport(configuration) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func overridesNeedNoLookupAndIgnoreATrailingDot() async throws {
        let resolver = Counting(.addresses([try SocketAddress(ipAddress: "192.0.2.9", port: 0)]))
        var options = TransportConfiguration.Resolution()
        options.hostOverrides = ["a.test": ["192.0.2.1", "2001:db8::1"]]
        let names = try NameCache(options, resolve: resolver.lookUp)
        for host in ["a.test", "A.TEST", "a.test."] {
            #expect(await answer(names, host) == ["192.0.2.1", "2001:db8::1"])
        }
        #expect(resolver.count == 0)
        names.clear()
        #expect(await answer(names, "a.test") == ["192.0.2.1", "2001:db8::1"])
        #expect(await answer(names, "b.a.test") == ["192.0.2.9"])
        #expect(resolver.count == 1)
    }

    // MARK: Cache

    @Test(arguments: [(Duration.seconds(60), 1), (.zero, 3), (.seconds(Int64.max), 1)])
    func anAnswerIsUsedAgain(lifetime: Duration, calls: Int) async throws {
        let resolver = Counting(.addresses([try SocketAddress(ipAddress: "192.0.2.9", port: 0)]))
        var options = TransportConfiguration.Resolution()
        options.cacheLifetime = lifetime
        let names = try NameCache(options, resolve: resolver.lookUp)
        for host in ["a.test", "a.test", "A.test"] { #expect(await answer(names, host) == ["192.0.2.9"]) }
        #expect(resolver.count == calls)
    }

    @Test func clearingAndForgettingAskAgain() async throws {
        let resolver = Counting(.addresses([try SocketAddress(ipAddress: "192.0.2.9", port: 0)]))
        let names = try NameCache(TransportConfiguration.Resolution(), resolve: resolver.lookUp)
        _ = await answer(names, "a.test")
        names.clear()
        _ = await answer(names, "a.test")
        #expect(resolver.count == 2)
        names.forget("A.test")
        _ = await answer(names, "a.test")
        #expect(resolver.count == 3)
    }

    @Test(arguments: [(Duration.seconds(60), [true, false, false]), (.zero, [true, true, true])])
    func theMetricsReportWhetherANameWasLookedUp(lifetime: Duration, lookedUp: [Bool]) async throws {
        try await server(named: "localhost") { server in
            try await withTransport({ $0.resolution.cacheLifetime = lifetime }) { transport in
                var seen: [Bool] = []
                for _ in 0..<3 {
                    let metrics = try await transport.send(server.request()).metrics
                    #expect(metrics.connect != nil)
                    seen.append(metrics.nameResolution != nil)
                }
                #expect(seen == lookedUp)
            }
        }
    }

    @Test func addressesThatRefuseConnectionsAreForgotten() async throws {
        try await server(named: "localhost") { server in
            try await withTransport { transport in
                let first = try await transport.send(server.request()).metrics
                // No server listens on port 1.
                let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost:1", path: "/")
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(TransportRequest(head: head))
                }
                #expect(error?.code == .connectionFailed)
                let second = try await transport.send(server.request()).metrics
                let third = try await transport.send(server.request()).metrics
                #expect([first, second, third].map { $0.nameResolution != nil } == [true, true, false])
            }
        }
    }

    @Test(arguments: ["a..test", String(repeating: "a", count: 300), "localhost\0.test"])
    func aNameWithoutAddressIsAnErrorOfItsOwn(name: String) async throws {
        guard case .unknown(let error) = SystemResolver.lookUp(name) else {
            Issue.record("Such a name has no address.")
            return
        }
        #expect(error.code == .nameResolutionFailed)
        // Requests reject this host earlier.
        try await withTransport { transport in
            let head = HTTPRequest(method: .get, scheme: "http", authority: name, path: "/")
            let error = await failure { () async throws(TransportError) in
                try await transport.send(TransportRequest(head: head))
            }
            #expect(error?.code == .invalidRequest)
        }
    }
}
