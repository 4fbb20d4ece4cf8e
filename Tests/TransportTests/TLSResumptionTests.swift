import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

/// Resumption through a transport.
@Suite("TLS resumption", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct TLSResumptionTests {
    /// Accepts any chain with a given validity, and counts.
    private final class Counting: TrustEvaluator {
        let validUntil: Date?
        private let calls = Mutex(0)

        init(validUntil: Date?) { self.validUntil = validUntil }

        var count: Int { calls.withLock { $0 } }

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            calls.withLock { $0 += 1 }
            return .accepted(
                VerifiedTrust(chain: trust.presentedChain, pins: [], isPinned: false, validUntil: validUntil))
        }
    }

    /// A server that serves one request per connection.
    private func withServer(
        _ identity: TestPKI.Identity, issuesTickets: Bool = true, perform: (MockServer) async throws -> Void
    ) async throws {
        let configuration = MockServer.Configuration {
            $0.hostName = "localhost"
            $0.maximumRequestsPerConnection = 1
            $0.issuesSessionTickets = issuesTickets
        }
        try await withMockServer(tls: identity, configuration: configuration) { _ in
            .text("ok")
        } perform: { server in
            try await perform(server)
        }
    }

    /// Which of several consecutive requests resumed a session.
    private func resumed(_ transport: HTTPTransport, _ server: MockServer, requests: Int = 3) async throws -> [Bool] {
        var resumed: [Bool] = []
        for _ in 0..<requests {
            let metrics = try await transport.send(server.request()).metrics
            #expect(!metrics.isReusedConnection)
            #expect(metrics.tlsHandshake != nil)
            resumed.append(metrics.isResumedTLSSession)
        }
        return resumed
    }

    private func expectResumed(
        _ expected: [Bool], _ transport: HTTPTransport, _ server: MockServer,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let seen = try await resumed(transport, server, requests: expected.count)
        #expect(seen == expected, sourceLocation: sourceLocation)
    }

    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func aSecondConnectionResumesAndIsStillPinned(version: TransportConfiguration.TLS.Version) async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let policy = try SecurityPolicy.publicKeyPins([identity.pin], anchors: .certificates([pki.root]))
        try await withServer(identity) { server in
            try await withTransport({
                $0.securityPolicy = policy
                $0.tls.maximumVersion = version
            }) { transport in
                var all: [TransportMetrics] = []
                for _ in 0..<4 { all.append(try await transport.send(server.request()).metrics) }
                try #require(all.map(\.isResumedTLSSession) == [false, true, true, true])
                for metrics in all {
                    #expect(!metrics.isReusedConnection)
                    #expect(metrics.isPinned)
                    #expect(metrics.verifiedPins == all[0].verifiedPins)
                    #expect(metrics.verifiedPins.count == 3)
                    #expect(metrics.tlsVersion == (version == .tls13 ? "TLSv1.3" : "TLSv1.2"))
                }
            }
        }
    }

    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func aStricterPolicyIsAskedAnew(version: TransportConfiguration.TLS.Version) async throws {
        let pki = try TestPKI()
        let lenient = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        let strict = try SecurityPolicy.publicKeyPins([TestPKI.selfSigned().pin], anchors: .certificates([pki.root]))
        try await withServer(try pki.identity()) { server in
            try await withTransport({
                $0.securityPolicy = lenient
                $0.tls.maximumVersion = version
            }) { transport in
                try await expectResumed([false, true, true], transport, server)
                transport.replaceSecurityPolicy(strict)
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(server.request())
                }
                #expect(error?.code == .trustRefused)
                #expect(error?.trustRefusal?.reason == .pinMismatch)
                // The sessions of the first policy were dropped.
                transport.replaceSecurityPolicy(lenient)
                try await expectResumed([false, true, true], transport, server)
            }
        }
    }

    @Test func anotherTransportKnowsNothing() async throws {
        let pki = try TestPKI()
        let lenient = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        let strict = try SecurityPolicy.publicKeyPins([TestPKI.selfSigned().pin], anchors: .certificates([pki.root]))
        try await withServer(try pki.identity()) { server in
            try await withTransport({ $0.securityPolicy = lenient }) { first in
                try await expectResumed([false, true, true], first, server)
                try await withTransport({ $0.securityPolicy = lenient }) { second in
                    try await expectResumed([false, true, true], second, server)
                }
                try await withTransport({ $0.securityPolicy = strict }) { third in
                    let error = await failure { () async throws(TransportError) in
                        try await third.send(server.request())
                    }
                    #expect(error?.trustRefusal?.reason == .pinMismatch)
                }
            }
        }
    }

    @Test func anotherNameOfTheSameServerIsJudged() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity { $0.addresses = [] }
        try await withServer(identity) { server in
            try await withTransport({
                $0.securityPolicy = .systemTrust(anchors: (try? .certificates([pki.root])) ?? .system)
            }) { transport in
                try await expectResumed([false, true, true], transport, server)
                var request = server.request()
                request.head.authority = "127.0.0.1:\(server.port)"
                let other = request
                let error = await failure { () async throws(TransportError) in try await transport.send(other) }
                #expect(error?.trustRefusal?.reason == .hostnameMismatch)
            }
        }
    }

    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func resumptionCanBeDisabled(version: TransportConfiguration.TLS.Version) async throws {
        try await withServer(try TestPKI.selfSigned()) { server in
            try await withTransport({
                $0.securityPolicy = .insecureAcceptAnyCertificate
                $0.tls.maximumVersion = version
                $0.tls.sessionResumption = false
            }) { transport in
                try await expectResumed([false, false, false], transport, server)
            }
        }
    }

    @Test func aPolicyCanForbidResumption() async throws {
        let lenient = SecurityPolicy.insecureAcceptAnyCertificate
        var policy = lenient
        policy.allowsSessionResumption = false
        let forbidding = policy
        try await withServer(try TestPKI.selfSigned()) { server in
            try await withTransport({ $0.securityPolicy = lenient }) { transport in
                try await expectResumed([false, true, true], transport, server)
                transport.replaceSecurityPolicy(forbidding)
                try await expectResumed([false, false, false], transport, server)
            }
        }
    }

    @Test func aServerWithoutTicketsIsJudgedEachTime() async throws {
        let evaluator = Counting(validUntil: .distantFuture)
        try await withServer(try TestPKI.selfSigned(), issuesTickets: false) { server in
            try await withTransport({ $0.securityPolicy = .everyHost(evaluator) }) { transport in
                try await expectResumed([false, false, false], transport, server)
            }
        }
        #expect(evaluator.count == 3)
    }

    /// In seconds from now; nil for unknown.
    @Test(arguments: [(nil, 3), (-1, 3), (TimeInterval.nan, 3), (86_400, 1), (.infinity, 1)])
    func aVerdictIsUsedAgainOnlyWhileItHolds(seconds: TimeInterval?, verdicts: Int) async throws {
        let evaluator = Counting(validUntil: seconds.map { Date() + $0 })
        try await withServer(try TestPKI.selfSigned()) { server in
            try await withTransport({ $0.securityPolicy = .everyHost(evaluator) }) { transport in
                let expected = (0..<3).map { $0 >= verdicts }
                try await expectResumed(expected, transport, server)
            }
        }
        #expect(evaluator.count == verdicts)
    }

    /// For the sanitizers: sessions are created, shared and freed on several event loops concurrently.
    @Test(arguments: [TransportConfiguration.TLS.Version.tls12, .tls13])
    func manyConnectionsResumeAtOnce(version: TransportConfiguration.TLS.Version) async throws {
        let evaluator = Counting(validUntil: .distantFuture)
        try await withServer(try TestPKI.selfSigned()) { server in
            try await withTransport({
                $0.securityPolicy = .everyHost(evaluator)
                $0.tls.maximumVersion = version
                $0.eventLoops = .dedicated(threads: 3)
            }) { transport in
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            let all = try await resumed(transport, server, requests: 10)
                            return all.contains(true)
                        }
                    }
                    for try await isAnyResumed in group { #expect(isAnyResumed) }
                }
            }
        }
        #expect(evaluator.count < 80)
    }
}
