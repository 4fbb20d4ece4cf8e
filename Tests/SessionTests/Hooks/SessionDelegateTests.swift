import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct SessionDelegateTests {
    /// Notes every call, and changes nothing.
    private final class RecordingDelegate: SessionDataDelegate {
        let calls = EventRecorder<String>()

        func willRedirect(
            _ redirect: HTTPRedirect, by request: SessionRequest, _ context: HookContext
        ) async throws -> RedirectDecision? {
            calls.record("willRedirect")
            return .follow(request)
        }

        func didReceiveChallenge(
            _ attempt: AuthenticationAttempt, _ context: HookContext
        ) async throws -> AuthenticationDecision {
            calls.record("didReceiveChallenge")
            return .use(try .bearer(token: "t"))
        }

        func willRetry(
            _ attempt: RetryAttempt, _ decision: RetryDecision, _ context: HookContext
        ) async throws -> RetryDecision {
            calls.record("willRetry")
            return decision
        }

        func didReceiveResponse(_ head: HTTPResponse, _ context: HookContext) async throws -> ResponseDisposition {
            calls.record("didReceiveResponse")
            return .allow
        }

        func didReceiveData(_ data: Data, _ context: HookContext) async throws { calls.record("didReceiveData") }

        func didSendBody(_ bytes: Int, _ progress: TransferProgress, _ context: HookContext) {
            calls.record("didSendBody")
        }

        func didCollectMetrics(_ metrics: [TransportMetrics], _ context: HookContext) {
            calls.record("didCollectMetrics")
        }

        func didComplete(_ error: SessionError?, _ context: HookContext) { calls.record("didComplete") }

        func didBecomeInvalid() { calls.record("didBecomeInvalid") }
    }

    private static func transport() -> StubTransport {
        StubTransport { request in
            switch request.index {
            case 0: .status(307, headerFields: [.location: "/b"])
            case 1: .status(401, headerFields: [.wwwAuthenticate: "Bearer"])
            default: .json("1")
            }
        }
    }

    private static let deciding = [
        "willRedirect", "didReceiveChallenge", "willRetry", "didReceiveResponse", "didReceiveData",
    ]

    @Test(arguments: Surface.allCases)
    func everyMethodIsCalled(surface: Surface) async throws {
        let delegate = RecordingDelegate()
        let client = try makeClient(Self.transport()) { $0.setDelegate(delegate) }
        #expect(try await surface.send("a", method: .put, parameters: ["k": "v"], with: client).get().value == 1)
        try await delegate.calls.wait { $0.contains("didComplete") }
        await client.shutdown()
        try await delegate.calls.wait { $0.contains("didBecomeInvalid") }
        let seen = [
            "didSendBody", "didSendBody", "didSendBody", "didCollectMetrics", "didComplete", "didBecomeInvalid",
        ]
        #expect(delegate.calls.events.filter { Self.deciding.contains($0) } == Self.deciding)
        #expect(delegate.calls.events.filter { !Self.deciding.contains($0) } == seen)
    }

    @Test func aRequestMayHaveItsOwnDelegate() async throws {
        let delegate = RecordingDelegate()
        let session = try HTTPSession(transport: Self.transport())
        _ = try await session.call(makeRequest()).hooks(TaskHooks(delegate: delegate)).response()
        #expect(delegate.calls.events.prefix(5) == Self.deciding[...])
    }

    @Test func aDelegateWithoutMethodsChangesNothing() async throws {
        final class Silent: SessionDelegate {}
        let delegate = Silent()
        let transport = StubTransport { $0.index == 0 ? .status(302, headerFields: [.location: "/b"]) : .json("1") }
        let client = try makeClient(transport) { $0.setDelegate(delegate) }
        #expect(try await client.get("a").json() == 1)
    }

    @Test func hooksThatChangeHowResponsesAreReadNeedTheirProtocols() {
        final class Silent: SessionDelegate {}
        final class Reader: SessionDataDelegate {}
        let silent = Silent()
        let reader = Reader()
        #expect(TaskHooks(delegate: silent).didReceiveResponse == nil)
        #expect(TaskHooks(delegate: silent).willCacheResponse == nil)
        #expect(TaskHooks(delegate: silent).didReceiveData == nil)
        #expect(TaskHooks(delegate: reader).didReceiveData != nil)
        #expect(SessionHooks(delegate: reader).didReceiveServerTrust == nil)
    }

    @Test(arguments: [true, false])
    func onlyADelegateForTrustIsAskedInEachHandshake(decidesOnTrust: Bool) async throws {
        final class Plain: SessionDelegate {}
        final class Judge: SessionTrustDelegate {
            let hosts = EventRecorder<String>()

            func didReceiveServerTrust(_ trust: ServerTrust, _ decision: TrustDecision) async -> TrustDecision {
                hosts.record(trust.host)
                return decision
            }
        }
        let pki = try TestPKI()
        let plain = Plain()
        let judge = Judge()
        let configuration = MockServer.Configuration {
            $0.issuesSessionTickets = true
            $0.maximumRequestsPerConnection = 1
        }
        try await withMockServer(.text(""), tls: try pki.identity(), configuration: configuration) { server in
            let session = try HTTPSession {
                $0.securityPolicy = .systemTrust(anchors: try .certificates([pki.root]))
                $0.setDelegate(decidesOnTrust ? judge : plain)
            }
            let url = server.url
            for round in 0..<2 {
                let response = try await session.call(SessionRequest(url: url)).response()
                #expect(response.metrics.last?.isResumedTLSSession == (round == 1 && !decidesOnTrust))
            }
            await session.shutdown()
        }
        #expect(judge.hosts.events == (decidesOnTrust ? ["127.0.0.1", "127.0.0.1"] : []))
    }

    @Test func theDelegateIsHeldWeakly() async throws {
        var delegate: RecordingDelegate? = RecordingDelegate()
        weak let released = delegate
        let transport = StubTransport { $0.index == 0 ? .status(302, headerFields: [.location: "/b"]) : .json("1") }
        let client = try makeClient(transport) { configuration in
            if let delegate { configuration.setDelegate(delegate) }
        }
        delegate = nil
        #expect(released == nil)
        #expect(try await client.get("a").json() == 1)
    }
}

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
