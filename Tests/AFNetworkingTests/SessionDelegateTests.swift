import FoundationEssentials
import HTTPTypes
import LinnetAFNetworking
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
            _ redirect: HTTPRedirect, by request: SessionRequest, _ context: TaskHooks.Context
        ) async throws -> RedirectPolicy.Decision? {
            calls.record("willRedirect")
            return .follow(request)
        }

        func didReceiveChallenge(
            _ attempt: AuthenticationAttempt, _ context: TaskHooks.Context
        ) async throws -> AuthenticationAttempt.Decision {
            calls.record("didReceiveChallenge")
            return .use(try .bearer(token: "t"))
        }

        func willRetry(
            _ attempt: RetryPolicy.Attempt, _ decision: RetryPolicy.Decision, _ context: TaskHooks.Context
        ) async throws -> RetryPolicy.Decision {
            calls.record("willRetry")
            return attempt.head?.status == .serviceUnavailable ? .retry(after: .zero) : decision
        }

        func didReceiveResponse(_ head: HTTPResponse, _ context: TaskHooks.Context) async throws
            -> TaskHooks.ResponseDisposition
        {
            calls.record("didReceiveResponse")
            return .allow
        }

        func didReceiveData(_ data: Data, _ context: TaskHooks.Context) async throws { calls.record("didReceiveData") }

        func didSendBody(_ bytes: Int, _ progress: TransferProgress, _ context: TaskHooks.Context) {
            calls.record("didSendBody")
        }

        func didCollectMetrics(_ metrics: [TransportMetrics], _ context: TaskHooks.Context) {
            calls.record("didCollectMetrics")
        }

        func didComplete(_ error: SessionError?, _ context: TaskHooks.Context) { calls.record("didComplete") }

        func didBecomeInvalid() { calls.record("didBecomeInvalid") }
    }

    private static func transport() -> StubTransport {
        StubTransport { request in
            switch request.index {
            case 0: .status(307, headerFields: [.location: "/b"])
            case 1: .status(401, headerFields: [.wwwAuthenticate: "Bearer"])
            case 2: .status(503)
            default: .json("1")
            }
        }
    }

    private static let deciding = [
        "willRedirect", "didReceiveChallenge", "willRetry", "didReceiveResponse", "didReceiveData",
    ]

    @Test func everyMethodIsCalled() async throws {
        let delegate = RecordingDelegate()
        let client = try makeClient(Self.transport()) { $0.setDelegate(delegate) }
        #expect(try await client.put("a", ["k": "v"]).json() == 1)
        try await delegate.calls.wait { $0.contains("didComplete") }
        await client.shutdown()
        try await delegate.calls.wait { $0.contains("didBecomeInvalid") }
        let seen = [
            "didSendBody", "didSendBody", "didSendBody", "didSendBody", "didCollectMetrics", "didComplete",
            "didBecomeInvalid",
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

    @Test func oneWithoutAMethodForRedirectsLeavesThemToThePolicy() async throws {
        final class Delegate: SessionDelegate {}
        for isRetained in [true, false] {
            let transport = StubTransport { _ in .status(302, headerFields: [.location: "/b"]) }
            var delegate: Delegate? = Delegate()
            let client = try makeClient(transport) {
                $0.redirectPolicy = .doNotFollow
                if let delegate { $0.setDelegate(delegate) }
            }
            if !isRetained { delegate = nil }
            await #expect(throws: SessionError.self) { try await client.get("a").response() }
            #expect(transport.requests.count == 1)
            _ = delegate
        }
    }

    @Test func theClientsCertificateIsTheDelegates() async throws {
        final class Holder: SessionDelegate {
            let identity: ClientIdentity

            init(_ identity: ClientIdentity) { self.identity = identity }

            func didReceiveClientCertificateRequest(
                _ request: ClientIdentityPolicy.CertificateRequest, _ proposed: ClientIdentity?
            ) async throws -> ClientIdentity? { identity }
        }
        let pki = try TestPKI()
        let minted = try pki.clientIdentity(named: "alice")
        let delegate = Holder(try minted.clientIdentity())
        let configuration = MockServer.Configuration { $0.clientCertificates = .requested(issuedBy: [pki.root]) }
        try await withMockServer(tls: pki.identity(), configuration: configuration, handler: { _ in .text("ok") }) {
            server in
            let session = try HTTPSession {
                $0.securityPolicy = .systemTrust(anchors: try .certificates([pki.root]))
                $0.setDelegate(delegate)
            }
            _ = try await session.call(SessionRequest(url: server.url("/"))).response()
            #expect(server.recordedRequests.map(\.clientCertificate) == [minted.certificate])
            await session.shutdown()
        }
    }
}
