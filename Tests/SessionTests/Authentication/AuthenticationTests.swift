import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct AuthenticationTests {
    private static let basicValue = HTTPFields.basicAuthorization(username: "ada", password: "pass")

    /// Answers 200 to the right credentials, and a challenge to the rest.
    private static func guarded(
        _ value: String = basicValue, challenge: String = "Basic realm=\"lab\""
    ) -> MockServer.Handler {
        { request in
            guard request.headerFields[.authorization] == value else {
                return MockResponse(status: .unauthorized, headerFields: [.wwwAuthenticate: challenge])
            }
            return .json("1")
        }
    }

    private static func store(_ url: URL, realm: String? = "lab", preemptively: Bool = false) throws -> CredentialStore
    {
        let store = CredentialStore()
        try store.set(
            .basic(username: "ada", password: "pass"), for: ProtectionSpace(origin: Origin(url), realm: realm),
            preemptively: preemptively)
        return store
    }

    @Test(arguments: Surface.allCases, Version.allCases)
    func aChallengeIsAnswered(surface: Surface, version: Version) async throws {
        let store = CredentialStore()
        try await withMockClient(version, configure: { $0.credentialStore = store }) {
            $0.on("/*", respond: Self.guarded())
        } perform: { client, server in
            try store.set(
                .basic(username: "ada", password: "pass"), for: .init(origin: Origin(server.url), realm: "lab"))
            let response = try await surface.send("a/b", with: client).get()
            #expect(response.value == 1)
            #expect(response.metrics.count == 2)
            #expect(server.recordedRequests.map { $0.headerFields[.authorization] } == [nil, Self.basicValue])
            // Once accepted, it is sent to the folder without a challenge, and not above it.
            _ = try await surface.send("a/c/d", with: client).get()
            _ = try await surface.send("e", with: client).get()
            let sent = server.recordedRequests.map { $0.headerFields[.authorization] != nil }
            #expect(sent == [false, true, true, false, true])
            #expect(server.acceptedConnections == 1)
        }
    }

    @Test func withoutAStoreOrACredential401IsAnError() async throws {
        for store in [nil, CredentialStore()] {
            try await withMockClient(configure: { $0.credentialStore = store }) {
                $0.on("/*", respond: Self.guarded())
            } perform: { client, server in
                let error = await Surface.async.send("a", with: client).error
                #expect(error?.code == .unacceptableStatus)
                #expect(error?.head?.status == .unauthorized)
                #expect(server.recordedRequests.count == 1)
            }
        }
    }

    @Test func eachCredentialIsTriedOnce() async throws {
        let store = CredentialStore()
        try await withMockClient(configure: { $0.credentialStore = store }) {
            $0.on("/*", respond: Self.guarded("never", challenge: "Bearer realm=\"lab\", Basic realm=\"lab\""))
        } perform: { client, server in
            let space = ProtectionSpace(origin: try Origin(server.url), realm: "lab")
            try store.set(.basic(username: "ada", password: "pass"), for: space)
            try store.set(.bearer(token: "t0ken"), for: space, preemptively: true)
            let error = await Surface.async.send("a", with: client).error
            #expect(error?.head?.status == .unauthorized)
            #expect(error?.metrics.count == 2)
            #expect(
                server.recordedRequests.map { $0.headerFields[.authorization] } == ["Bearer t0ken", Self.basicValue])
        }
    }

    @Test func preemptiveCredentialsAreSentAtOnceAndToTheirOriginAlone() async throws {
        let transport = StubTransport { _ in .json("1") }
        let url = try #require(URL(string: "http://example.com"))
        var configuration = HTTPSession.Configuration()
        configuration.credentialStore = try Self.store(url, realm: nil, preemptively: true)
        let session = try HTTPSession(configuration: configuration, transport: transport)
        for text in [
            "http://example.com/a", "http://example.com:81/a", "http://www.example.com/a", "https://example.com/a",
        ] {
            _ = try await session.call(SessionRequest(url: #require(URL(string: text)))).response()
        }
        let sent = transport.requests.map { $0.head.headerFields[.authorization] }
        #expect(sent == [Self.basicValue, nil, nil, nil])
    }

    @Test(arguments: [("/x/digest", ["Basic", "Digest"]), ("/x/never", ["Basic"])])
    func aPasswordThatBasicHasSentIsTriedByDigest(path: String, schemes: [String]) async throws {
        let transport = StubTransport { request in
            let isDigest = request.head.path == "/x/digest"
            let accepted = isDigest ? "Digest " : request.head.path == "/x/never" ? "Never " : "Basic "
            guard request.head.headerFields[.authorization]?.hasPrefix(accepted) != true else { return .json("1") }
            let challenge = isDigest ? "Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-256" : "Basic realm=lab"
            return .status(401, headerFields: [.wwwAuthenticate: challenge])
        }
        let url = try #require(URL(string: "https://example.com/x/basic"))
        var configuration = HTTPSession.Configuration()
        let store = CredentialStore()
        try store.set(.password(username: "ada", password: "pass"), for: ProtectionSpace(origin: Origin(url)))
        configuration.credentialStore = store
        let session = try HTTPSession(configuration: configuration, transport: transport)
        _ = try await session.call(SessionRequest(url: url)).response()
        let other = try #require(URL(string: "https://example.com" + path))
        let response = try? await session.call(SessionRequest(url: other)).response()
        let sent = transport.requests.dropFirst(2).map {
            $0.head.headerFields[.authorization].map { "\($0.prefix { $0 != " " })" }
        }
        #expect(sent == schemes)
        #expect((response != nil) == (schemes.last == "Digest"))
    }

    @Test func aRedirectToAnotherOriginGetsNoCredential() async throws {
        let transport = StubTransport { request in
            if request.head.authority == "example.com" {
                return .status(302, headerFields: [.location: "http://evil.example/"])
            }
            return .status(401, headerFields: [.wwwAuthenticate: "Basic realm=\"lab\""])
        }
        let url = try #require(URL(string: "http://example.com"))
        var configuration = HTTPSession.Configuration()
        configuration.credentialStore = try Self.store(url, preemptively: true)
        let session = try HTTPSession(configuration: configuration, transport: transport)
        let error = await #expect(throws: SessionError.self) {
            try await session.call(SessionRequest(url: url)).response()
        }
        #expect(error?.head?.status == .unauthorized)
        #expect(transport.requests.map { $0.head.headerFields[.authorization] } == [Self.basicValue, nil])
    }

    @Test func aRequestsOwnFieldIsNotReplaced() async throws {
        let transport = StubTransport { _ in .status(401, headerFields: [.wwwAuthenticate: "Basic realm=\"lab\""]) }
        let url = try #require(URL(string: "http://example.com"))
        var configuration = HTTPSession.Configuration()
        configuration.credentialStore = try Self.store(url)
        let session = try HTTPSession(configuration: configuration, transport: transport)
        let own = SessionRequest(url: url, headerFields: [.authorization: "Own"])
        _ = try? await session.call(own).response()
        _ = try? await session.call(SessionRequest(url: #require(URL(string: "http://u:p@example.com")))).response()
        #expect(transport.requests.map { $0.head.headerFields[.authorization] } == ["Own", "Basic dTpw"])
    }

    @Test func bodiesAreSentAgainOrFailWithAReason() async throws {
        let store = CredentialStore()
        try await withMockClient(configure: { $0.credentialStore = store }) {
            $0.on("/*", respond: Self.guarded())
        } perform: { client, server in
            try store.set(.basic(username: "ada", password: "pass"), for: .init(origin: Origin(server.url)))
            let again = HTTPRequestBody.stream(length: nil, isReplayable: true) { OnceReader() }
            _ = try await client.call(SessionRequest(url: try server.url("/x/a"), method: .post, body: again))
                .response()
            #expect(server.recordedRequests.map(\.bodyText) == ["once", "once"])
            let once = HTTPRequestBody.stream(length: nil, isReplayable: false, replayObstacle: "it is a pipe") {
                OnceReader()
            }
            let error = await #expect(throws: SessionError.self) {
                try await client.call(SessionRequest(url: try server.url("/y/b"), method: .post, body: once)).response()
            }
            #expect(error?.code == .requestBodyFailed)
            #expect(error?.message.contains("it is a pipe") == true)
            #expect(error?.head?.status == .unauthorized)
        }
    }
}

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct AuthenticationHookTests {
    private static let challenge: HTTPFields = [.wwwAuthenticate: "Basic realm=\"lab\", Bearer"]

    @Test(arguments: Surface.allCases)
    func aHookGivesTheCredential(surface: Surface) async throws {
        let attempts = EventRecorder<AuthenticationAttempt>()
        let transport = StubTransport { request in
            request.head.headerFields[.authorization] == "Bearer good"
                ? .json("1") : .status(401, headerFields: Self.challenge)
        }
        let client = try makeClient(transport) {
            $0.hooks.didReceiveChallenge = { _, attempt in
                attempts.record(attempt)
                return .use(try .bearer(token: attempt.failures == 0 ? "bad" : "good"))
            }
        }
        #expect(try await surface.send("a", with: client).get().value == 1)
        #expect(attempts.events.map(\.failures) == [0, 1])
        #expect(attempts.events[0].challenges.map(\.scheme) == ["basic", "bearer"])
        #expect(attempts.events[0].origin.description == "http://example.com")
        #expect(attempts.events[0].proposedCredential == nil)
    }

    @Test func aHookThatRepeatsItsCredentialDoesNotLoop() async throws {
        let transport = StubTransport { _ in .status(401, headerFields: Self.challenge) }
        var hooks = TaskHooks()
        hooks.didReceiveChallenge = { _, _ in .use(try .bearer(token: "same")) }
        let session = try HTTPSession(transport: transport)
        let error = await #expect(throws: SessionError.self) {
            try await session.call(makeRequest()).hooks(hooks).response()
        }
        #expect(error?.head?.status == .unauthorized)
        #expect(transport.requests.count == 2)
        hooks.didReceiveChallenge = { _, attempt in .use(try .bearer(token: "n\(attempt.failures)")) }
        _ = try? await session.call(makeRequest()).hooks(hooks).response()
        #expect(transport.requests.count == 2 + 9)
    }

    @Test func aHookMayLeaveTheAnswerToTheStore() async throws {
        let transport = StubTransport { request in
            request.head.headerFields.contains(.authorization)
                ? .json("1") : .status(401, headerFields: Self.challenge)
        }
        var configuration = HTTPSession.Configuration()
        let store = CredentialStore()
        let origin = try Origin(#require(URL(string: "http://example.com")))
        try store.set(.bearer(token: "stored"), for: ProtectionSpace(origin: origin))
        configuration.credentialStore = store
        configuration.hooks.didReceiveChallenge = { _, attempt in
            #expect(attempt.proposedCredential?.scheme == "bearer")
            return .performDefault
        }
        _ = try await HTTPSession(configuration: configuration, transport: transport).call(makeRequest()).response()
        #expect(transport.requests.last?.head.headerFields[.authorization] == "Bearer stored")
    }

    @Test func aHookMayRejectOrCancelOrFail() async throws {
        struct Oops: Error {}
        let transport = StubTransport { _ in .status(401, headerFields: Self.challenge) }
        let session = try HTTPSession(transport: transport)
        let answers: [(SessionError.Code, @Sendable () throws -> AuthenticationAttempt.Decision)] = [
            (.unacceptableStatus, { .reject }), (.authenticationCancelled, { .cancel }),
            (.hookFailed, { throw Oops() }), (.invalidRequest, { .use(try .bearer(token: "")) }),
        ]
        for (code, answer) in answers {
            var hooks = TaskHooks()
            hooks.didReceiveChallenge = { _, _ in try answer() }
            let fixed = hooks
            let error = await #expect(throws: SessionError.self) {
                try await session.call(makeRequest()).hooks(fixed).response()
            }
            #expect(error?.code == code)
        }
        #expect(transport.requests.count == answers.count)
    }
}
