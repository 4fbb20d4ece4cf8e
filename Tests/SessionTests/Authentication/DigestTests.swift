import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct DigestTests {
    private static func password(_ password: String = "pass") throws -> Credential {
        try .password(username: "ada", password: password, allowsMD5: true)
    }

    /// A client of a digest server, with the right password in its store.
    private static func withDigest(
        _ settings: DigestServer.Settings = .init(), _ version: Version = .http1, credential: Credential? = nil,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        perform: (HTTPSession, DigestServer, MockServer) async throws -> Void
    ) async throws {
        let store = CredentialStore()
        let digest = DigestServer(settings)
        try await withMockClient(version) {
            $0.credentialStore = store
            configure(&$0)
        } routes: {
            $0.on("/*", respond: { digest.respond($0) })
        } perform: { client, server in
            try store.set(credential ?? password(), for: ProtectionSpace(origin: Origin(server.url), realm: "lab"))
            try await perform(client, digest, server)
        }
    }

    @Test(arguments: Surface.allCases, Version.allCases)
    func aChallengeIsAnsweredAndItsNonceUsedAgain(surface: Surface, version: Version) async throws {
        try await Self.withDigest(.init(), version) { client, digest, server in
            let response = try await surface.send("a/b?c=d%20e", with: client).get()
            #expect(response.value == 1)
            #expect(response.metrics.count == 2)
            // Without a domain, the nonce is for the whole origin (RFC 7616, section 3.3).
            for path in ["a/c", "e", "f/g?h"] { #expect(try await surface.send(path, with: client).get().value == 1) }
            #expect(digest.challenges == 1)
            #expect(digest.accepted == 4)
            #expect(digest.replays == 0)
            #expect(server.recordedRequests.count == 5)
        }
    }

    @Test(arguments: [
        ("SHA-256", "SHA256"), ("SHA-256-sess", "SHA256"), ("SHA-512-256", "SHA512-256"),
        ("SHA-512-256-sess", "SHA512-256"), ("MD5", "MD5"), ("MD5-sess", "MD5"),
    ])
    func allAlgorithmsAreAnswered(algorithm: String, hash: String) async throws {
        for qop in ["auth", "auth-int"] {
            let settings = DigestServer.Settings(algorithm: algorithm, hash: hash, qop: qop)
            try await Self.withDigest(settings) { client, digest, server in
                for index in 0..<3 {
                    let body = HTTPRequestBody.data(Data("body \(index)".utf8))
                    let request = SessionRequest(url: try server.url("/a"), method: .post, body: body)
                    _ = try await client.call(request).response()
                }
                _ = try await Surface.async.send("b", with: client).get()
                #expect(digest.accepted == 4)
                #expect(digest.challenges == 1)
            }
        }
    }

    @Test func concurrentRequestsHaveDifferentCounts() async throws {
        try await Self.withDigest { client, digest, _ in
            _ = try await Surface.async.send("first", with: client).get()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<50 {
                    group.addTask { _ = try await Surface.async.send("a\(index)", with: client).get() }
                }
                try await group.waitForAll()
            }
            #expect(digest.accepted == 51)
            #expect(digest.challenges == 1)
            #expect(digest.replays == 0)
        }
    }

    /// Eight tasks send 300 requests to a server that takes the counts of a nonce in their order only, as squid does.
    @Test func aServerThatRequiresOrderedCountsChallengesRarely() async throws {
        try await Self.withDigest(.init(wantsOrder: true)) { client, digest, _ in
            _ = try await Surface.async.send("first", with: client).get()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<8 {
                    group.addTask {
                        for index in 0..<38 { _ = try await Surface.async.send("\(task)/\(index)", with: client).get() }
                    }
                }
                try await group.waitForAll()
            }
            #expect(digest.accepted == 1 + 8 * 38)
            #expect(digest.replays == 0)
            // The first challenge, the challenges of running requests when the order first matters, and one for each
            // missing nonce.
            #expect(digest.challenges <= 1 + 2 * 8)
        }
    }

    @Test(arguments: [true, false])
    func anExpiredNonceIsNoRefusal(saysStale: Bool) async throws {
        let asked = EventRecorder<Int>()
        var settings = DigestServer.Settings(answersPerNonce: 2)
        settings.saysStale = saysStale
        try await Self.withDigest(settings) {
            $0.hooks.didReceiveChallenge = { _, attempt in
                asked.record(attempt.failures)
                return .performDefault
            }
        } perform: { client, digest, _ in
            for _ in 0..<6 { _ = try await Surface.async.send("a", with: client).get() }
            #expect(digest.accepted == 6)
            #expect(digest.challenges == 3)
            // The hook is asked for a credential, and not for another nonce.
            #expect(asked.events == (saysStale ? [0] : [0, 0, 0]))
        }
    }

    @Test func aServerThatAlwaysSaysStaleEnds() async throws {
        try await Self.withDigest(.init(answersPerNonce: 0)) { client, digest, _ in
            let error = await Surface.async.send("a", with: client).error
            #expect(error?.head?.status == .unauthorized)
            #expect(digest.challenges == 1 + 1 + 3)
        }
    }

    @Test func theNextNonceIsUsed() async throws {
        try await Self.withDigest(.init(answersPerNonce: 1, givesNextNonce: true)) { client, digest, server in
            for _ in 0..<4 { _ = try await Surface.async.send("a", with: client).get() }
            #expect(digest.accepted == 4)
            #expect(digest.challenges == 1)
            let counts = server.recordedRequests.compactMap { $0.headerFields[.authorization] }
            #expect(counts.allSatisfy { $0.contains("nc=00000001") })
        }
    }

    @Test func aWrongProofIsAnError() async throws {
        try await Self.withDigest(.init(proves: false)) { client, _, server in
            let error = await Surface.async.send("a", with: client).error
            #expect(error?.code == .invalidResponse)
            #expect((error?.underlying as? AuthenticationError)?.code == .wrongServerProof)
            #expect(error?.head?.status == .ok)
            #expect(error?.metrics.count == 2)
            #expect(server.recordedRequests.count == 2)
        }
    }

    @Test func aStoredResponseNeedsNoProof() async throws {
        let digest = DigestServer()
        let credentials = CredentialStore()
        try await withMockClient {
            $0.credentialStore = credentials
            $0.cacheStore = MemoryCacheStore()
        } routes: {
            $0.on("/*") { request in
                var response = digest.respond(request)
                response.headerFields[.cacheControl] = "private, max-age=3600"
                return response
            }
        } perform: { client, server in
            try credentials.set(Self.password(), for: ProtectionSpace(origin: Origin(server.url)))
            for outcome in [CacheStatistics.Outcome.miss, .hit, .hit] {
                let response = try await Surface.async.send("a", with: client).get()
                #expect(response.cacheOutcome == outcome)
            }
            #expect(digest.accepted == 1)
        }
    }

    @Test(arguments: [nil, "rspauth=\"0\""] as [String?])
    func aConfirmedResponseHasTheProofOfItsConfirmationAlone(proof: String?) async throws {
        let (digest, credentials) = (DigestServer(), CredentialStore())
        try await withMockClient {
            $0.credentialStore = credentials
            $0.cacheStore = MemoryCacheStore()
        } routes: {
            $0.on("/*") { request in
                var response = digest.respond(request)
                if response.status == .ok, request.headerFields.contains(.ifNoneMatch) {
                    response = .status(.notModified)
                    response.headerFields[.authenticationInfo] = proof
                }
                response.headerFields[.cacheControl] = "private, no-cache"
                response.headerFields[.eTag] = "\"1\""
                return response
            }
        } perform: { client, server in
            try credentials.set(Self.password(), for: ProtectionSpace(origin: Origin(server.url)))
            #expect(try await Surface.async.send("a", with: client).get().cacheOutcome == .miss)
            let second = await Surface.async.send("a", with: client)
            #expect(server.recordedRequests.last?.headerFields[.ifNoneMatch] == "\"1\"")
            guard proof != nil else {
                #expect(try second.get().cacheOutcome == .revalidated)
                return
            }
            #expect((second.error?.underlying as? AuthenticationError)?.code == .wrongServerProof)
        }
    }

    @Test func aNameThatIsNotASCIIIsSentInUTF8() async throws {
        let credential = try Credential.password(username: "Zoë", password: "pass")
        try await Self.withDigest(credential: credential) { client, _, server in
            _ = await Surface.async.send("a", with: client)
            let sent = server.recordedRequests.last?.headerFields[.authorization]
            #expect(sent?.hasPrefix("Digest username=\"Zoë\", ") == true)
        }
    }

    @Test func aWrongPasswordIsTriedOnce() async throws {
        try await Self.withDigest(.init(before: "Basic realm=\"lab\", "), credential: Self.password("wrong")) {
            client, digest, server in
            let error = await Surface.async.send("a", with: client).error
            #expect(error?.head?.status == .unauthorized)
            #expect(digest.challenges == 2)
            #expect(server.recordedRequests.allSatisfy { $0.headerFields[.authorization]?.hasPrefix("Basic") != true })
        }
    }

    @Test func aDomainLimitsWhereTheNonceIsUsed() async throws {
        let settings = DigestServer.Settings(more: ", domain=\"/a/ http://example.com/ /b/c\"")
        try await Self.withDigest(settings) { client, digest, server in
            for path in ["a/1", "a/2", "b/c/3", "b/4", "a/5"] {
                _ = try await Surface.async.send(path, with: client).get()
            }
            let sent = server.recordedRequests.filter { $0.headerFields[.authorization] == nil }.map(\.target)
            #expect(sent == ["/a/1", "/b/4"])
            #expect(digest.accepted == 5)
        }
    }

    @Test func aHookGivesThePassword() async throws {
        let digest = DigestServer()
        try await withMockClient(configure: {
            $0.hooks.didReceiveChallenge = { _, attempt in
                #expect(attempt.challenges.map(\.scheme) == ["digest"])
                return .use(try .password(username: "ada", password: attempt.failures == 0 ? "wrong" : "pass"))
            }
        }) {
            $0.on("/*", respond: { digest.respond($0) })
        } perform: { client, _ in
            let response = try await Surface.async.send("a", with: client).get()
            #expect(response.value == 1)
            #expect(digest.challenges == 2)
        }
    }

    @Test func aHooksPasswordIsNotSentInClearText() async throws {
        let transport = StubTransport { _ in .status(401, headerFields: [.wwwAuthenticate: "Basic realm=\"lab\""]) }
        var hooks = TaskHooks()
        hooks.didReceiveChallenge = { _, _ in .use(try .password(username: "ada", password: "pass")) }
        let session = try HTTPSession(transport: transport)
        for scheme in ["http", "https"] {
            let url = try #require(URL(string: "\(scheme)://example.com/"))
            _ = try? await session.call(SessionRequest(url: url)).hooks(hooks).response()
        }
        let sent = transport.requests.map { $0.head.headerFields[.authorization]?.prefix(5) }
        #expect(sent == [nil, nil, "Basic"])
    }

    @Test func aRedirectIsAnsweredWithItsOwnTarget() async throws {
        let digest = DigestServer()
        let store = CredentialStore()
        try await withMockClient(configure: { $0.credentialStore = store }) {
            $0.on("/start") { request in
                let response = digest.respond(request)
                return response.status == .ok ? .redirect(to: "/end?x=1") : response
            }
            $0.on("/end", respond: { digest.respond($0) })
        } perform: { client, server in
            try store.set(Self.password(), for: ProtectionSpace(origin: Origin(server.url)))
            let response = try await Surface.async.send("start", with: client).get()
            #expect(response.value == 1)
            #expect(digest.accepted == 2)
            #expect(server.recordedRequests.map(\.target) == ["/start", "/start", "/end?x=1"])
        }
    }

    @Test func authIntNeedsABodyThatCanBeReadTwice() async throws {
        try await Self.withDigest(.init(qop: "auth-int")) { client, digest, server in
            let again = HTTPRequestBody.stream(length: nil, isReplayable: true) { OnceReader() }
            _ = try await client.call(SessionRequest(url: server.url("/a"), method: .post, body: again)).response()
            #expect(digest.accepted == 1)
            // The nonce is known now, but the body cannot be hashed before it is sent.
            let once = HTTPRequestBody.stream(length: nil, isReplayable: false, replayObstacle: "it is a pipe") {
                OnceReader()
            }
            let error = await #expect(throws: SessionError.self) {
                try await client.call(SessionRequest(url: server.url("/a"), method: .post, body: once)).response()
            }
            #expect(error?.code == .requestBodyFailed)
            #expect(error?.message.contains("it is a pipe") == true)
            #expect(error?.head?.status == .unauthorized)
            #expect(server.recordedRequests.map { $0.headerFields[.authorization] != nil } == [false, true, false])
        }
    }

    @Test func aBodyThatCanBeReadOnceIsSentIfNoAnswerIsRequired() async throws {
        let (digest, store) = (DigestServer(.init(qop: "auth-int")), CredentialStore())
        try await withMockClient(configure: { $0.credentialStore = store }) {
            $0.on("/a", respond: { digest.respond($0) })
            $0.on("/open", respond: { _ in .json("1") })
        } perform: { client, server in
            try store.set(Self.password(), for: ProtectionSpace(origin: Origin(server.url)))
            _ = try await Surface.async.send("a", with: client).get()
            let once = HTTPRequestBody.stream(length: nil, isReplayable: false) { OnceReader() }
            _ = try await client.call(SessionRequest(url: server.url("/open"), method: .post, body: once)).response()
            #expect(digest.accepted == 1)
            #expect(server.recordedRequests.last?.bodyText == "once")
        }
    }

    @Test func hashingABodyEndsWithTheRequestsTimeout() async throws {
        try await Self.withDigest(.init(qop: "auth-int")) { client, digest, server in
            _ = try await Surface.async.send("a", with: client).get()
            let body = HTTPRequestBody.stream(length: nil, isReplayable: true) { EndlessReader() }
            var request = SessionRequest(url: try server.url("/a"), method: .post, body: body)
            request.options.timeout = .milliseconds(20)
            let error = await #expect(throws: SessionError.self) { try await client.call(request).response() }
            #expect(error?.code == .timeout && error?.timeout == .request)
            #expect(server.recordedRequests.count == 2)
        }
    }
}

/// A reader without bytes, which ends only when it is cancelled.
private struct EndlessReader: HTTPRequestBodyReader {
    mutating func next() async throws -> Data? {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        continuation.finish()
        throw CancellationError()
    }
}
