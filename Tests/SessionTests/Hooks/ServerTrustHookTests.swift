import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ServerTrustHookTests {
    private func status(
        _ policy: SecurityPolicy, _ identity: TestPKI.Identity,
        _ hook: @escaping @Sendable (ServerTrust, TrustDecision) async -> TrustDecision
    ) async throws -> Result<SessionResponse<Data>, SessionError> {
        try await withMockServer(.text("here"), tls: identity) { server in
            let session = try HTTPSession {
                $0.securityPolicy = policy
                $0.sessionHooks.didReceiveServerTrust = hook
            }
            let url = server.url
            let result = await Result { () async throws(SessionError) in
                try await session.call(SessionRequest(url: url)).response()
            }
            await session.shutdown()
            return result
        }
    }

    @Test func theHookJudgesAfterThePolicy() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let trusting = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        let seen = EventRecorder<Bool>()
        let fine = try await status(trusting, identity) { trust, decision in
            seen.record(decision.isAccepted && trust.host == "127.0.0.1" && !trust.presentedChain.isEmpty)
            return decision
        }
        #expect(fine.success?.status == .ok)
        #expect(seen.events == [true])
    }

    @Test func theHookMayRefuseAnAcceptedChain() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let trusting = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        let refused = try await status(trusting, identity) { trust, _ in
            .refused(TrustRefusal(.pinMismatch, "Not today.", trust: trust))
        }
        #expect(refused.error?.code == .trustRefused)
        #expect(refused.error?.trustRefusal?.message == "Not today.")
    }

    @Test func theHookMayAcceptARefusedChainByAnotherVerdict() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let own = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        let accepted = try await status(.systemTrust, identity) { trust, decision in
            decision.isAccepted ? decision : await own.evaluate(trust)
        }
        #expect(accepted.success?.status == .ok)
    }

    @Test func theHookIsCalledInEachHandshake() async throws {
        let pki = try TestPKI()
        let configuration = MockServer.Configuration {
            $0.issuesSessionTickets = true
            $0.maximumRequestsPerConnection = 1
        }
        try await withMockServer(.text("here"), tls: pki.identity(), configuration: configuration) { server in
            let asked = EventRecorder<Bool>()
            for isAsked in [false, true] {
                let session = try HTTPSession {
                    $0.securityPolicy = .systemTrust(anchors: try .certificates([pki.root]))
                    guard isAsked else { return }
                    $0.sessionHooks.didReceiveServerTrust = { _, decision in
                        asked.record(decision.isAccepted)
                        return decision
                    }
                }
                var resumed: [Bool?] = []
                for _ in 0..<3 {
                    let response = try await session.call(SessionRequest(url: server.url)).response()
                    resumed.append(response.metrics.last?.isResumedTLSSession)
                }
                #expect(resumed == (isAsked ? [false, false, false] : [false, true, true]))
                await session.shutdown()
            }
            #expect(asked.events == [true, true, true])
        }
    }

    @Test func theHookIsCalledForAReplacedPolicy() async throws {
        let pki = try TestPKI()
        let seen = EventRecorder<Bool>()
        try await withMockServer(.text("here"), tls: pki.identity()) { server in
            let session = try HTTPSession {
                $0.sessionHooks.didReceiveServerTrust = { _, decision in
                    seen.record(decision.isAccepted)
                    return decision
                }
            }
            _ = try? await session.call(SessionRequest(url: server.url)).response()
            try session.replaceSecurityPolicy(.systemTrust(anchors: .certificates([pki.root])))
            #expect(try await session.call(SessionRequest(url: server.url)).response().status == .ok)
            await session.shutdown()
            #expect(seen.events == [false, true])
        }
    }
}
