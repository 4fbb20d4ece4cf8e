import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetOAuth

/// A session whose token is renewed.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct OAuthAuthenticatorTests {
    /// Answers requests for `/posts` that have the token, and passes others to an issuer.
    private static func server(
        accepting token: @escaping @Sendable () -> String,
        _ issuer: @escaping @Sendable (RecordedRequest) async -> MockResponse
    ) -> @Sendable (RecordedRequest) async -> MockResponse {
        { request in
            guard request.path == "/posts" else { return await issuer(request) }
            return request.headerFields[.authorization] == "Bearer \(token())" ? .json("1") : .status(.unauthorized)
        }
    }

    private func withAPI(
        _ rules: OAuthAuthenticator, _ server: MockServer,
        perform: (HTTPSession, RenewableCredential<OAuthAuthenticator>) async throws -> Void
    ) async throws {
        let credential = try await rules.makeCredential(for: [try #require(Origin(server.url.absoluteString))])
        try await withSession({ $0.authenticator = .renewing(credential) }) { try await perform($0, credential) }
    }

    private func posts(_ server: MockServer) -> String { server.url.appending(path: "posts").absoluteString }

    private func get(_ api: HTTPSession, _ server: MockServer) async throws {
        #expect(try await api.get(posts(server)).json() == 1)
    }

    @Test func theStoredTokenIsUsedWithoutARenewal() async throws {
        let issuer = RotatingIssuer()
        try await withIssuer(Self.server(accepting: { "a0" }) { issuer.respond(to: $0) }) { client, server in
            let store = MemoryTokenStore(OAuthToken(accessToken: "a0", refreshToken: "r0"))
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, credential in
                try await get(api, server)
                #expect(issuer.count == 0 && credential.credential?.accessToken == "a0")
            }
        }
    }

    @Test func aRefusedTokenIsRenewedOnceAndStored() async throws {
        let issuer = RotatingIssuer()
        try await withIssuer(Self.server(accepting: { "a1" }) { issuer.respond(to: $0) }) { client, server in
            let store = MemoryTokenStore(OAuthToken(accessToken: "a0", refreshToken: "r0"))
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, _ in
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 0..<50 { group.addTask { try await api.get(posts(server)).json() == 1 } }
                    for try await isRight in group { #expect(isRight) }
                }
            }
            #expect(issuer.count == 1 && issuer.violations == 0)
            #expect(store.token()?.refreshToken == "r1")
        }
    }

    @Test func aTokenThatAnotherProgramHasRenewedIsUsed() async throws {
        let issuer = RotatingIssuer()
        try await withIssuer(Self.server(accepting: { "new" }) { issuer.respond(to: $0) }) { client, server in
            let store = MemoryTokenStore(OAuthToken(accessToken: "old", refreshToken: "r0"))
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, credential in
                credential.credential = store.token()
                try await store.replace(with: OAuthToken(accessToken: "new", refreshToken: "r7"))
                try await get(api, server)
                #expect(issuer.count == 0 && issuer.violations == 0)
            }
        }
    }

    @Test func aServiceGetsTokensForItself() async throws {
        let count = Mutex(0)
        let issuer: @Sendable (RecordedRequest) async -> MockResponse = { request in
            guard request.form["grant_type"] == "client_credentials" else { return errorAnswer("invalid_request") }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return tokenAnswer("s\(number)")
        }
        let accepted = Mutex("s1")
        try await withIssuer(
            Self.server(accepting: { accepted.withLock { $0 } }, issuer), authentication: .basic(secret: "s")
        ) { client, server in
            try await withAPI(OAuthAuthenticator(client: client), server) { api, _ in
                try await get(api, server)
                accepted.withLock { $0 = "s2" }
                try await get(api, server)
                #expect(count.withLock { $0 } == 2)
            }
        }
    }

    @Test func withoutATokenALoginIsRequired() async throws {
        try await withIssuer(Self.server(accepting: { "a" }) { _ in tokenAnswer("a") }) { client, server in
            try await withAPI(OAuthAuthenticator(client: client), server) { api, _ in
                let error = await #expect(throws: SessionError.self) { try await api.get(posts(server)).json() }
                #expect(error?.code == .credentialRenewalFailed)
                #expect((error?.underlying as? OAuthError)?.code == .loginRequired)
            }
            #expect(server.recordedRequests.isEmpty)
        }
    }

    @Test func theIssuersRefusalIsTheErrorOfTheRequest() async throws {
        try await withIssuer(Self.server(accepting: { "x" }) { _ in errorAnswer("invalid_grant") }) { client, server in
            let token = OAuthToken(accessToken: "a0", refreshToken: "r0")
            let store = MemoryTokenStore(token)
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, _ in
                let error = await #expect(throws: SessionError.self) { try await api.get(posts(server)).json() }
                #expect(error?.code == .credentialRenewalFailed)
                let underlying = error?.underlying as? OAuthError
                #expect(underlying?.code == .invalidGrant && underlying?.errorResponse?.error == "invalid_grant")
            }
            #expect(store.token() == token)
        }
    }

    /// Tokens that live for less than twice the leeway.
    @Test func shortLivedTokensAreNotRenewedForEachRequest() async throws {
        let issuer = RotatingIssuer(lifetime: 10)
        let time = Mutex(Date(timeIntervalSince1970: 1_000_000))
        try await withIssuer(
            Self.server(accepting: { "a\(issuer.count)" }) { issuer.respond(to: $0) },
            configure: { $0.now = { time.withLock { $0 } } }
        ) { client, server in
            let store = MemoryTokenStore(
                OAuthToken(accessToken: "x", refreshToken: "r0", issued: .distantPast, expires: .distantPast))
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, _ in
                for _ in 0..<20 { try await get(api, server) }
                #expect(issuer.count == 1)
                time.withLock { $0 += 9 }
                for _ in 0..<20 { try await get(api, server) }
                #expect(issuer.count == 1)
                time.withLock { $0 += 2 }
                for _ in 0..<20 { try await get(api, server) }
                #expect(issuer.count == 2)
            }
        }
    }

    @Test func aTokenThatCannotBeStoredIsUsedAndReported() async throws {
        let issuer = RotatingIssuer()
        let accepted = Mutex("a1")
        try await withIssuer(
            Self.server(accepting: { accepted.withLock { $0 } }) { issuer.respond(to: $0) }
        ) { client, server in
            let store = UnreliableStore(OAuthToken(accessToken: "a0", refreshToken: "r0"))
            let failures = Mutex<[any Error]>([])
            let rules = OAuthAuthenticator(client: client, store: store) { error in
                failures.withLock { $0.append(error) }
            }
            try await withAPI(rules, server) { api, _ in
                for _ in 0..<3 { try await get(api, server) }
                #expect(issuer.count == 1 && store.token()?.accessToken == "a0")
                #expect(failures.withLock { $0.map { ($0 as? OAuthError)?.code } } == [.tokenStoreFailed])
                // A new session of the same rules, too, must not begin with the refresh token that was used.
                try await withAPI(rules, server) { api, _ in try await get(api, server) }
                #expect(issuer.count == 1)
                store.works.withLock { $0 = true }
                accepted.withLock { $0 = "a2" }
                try await get(api, server)
                #expect(issuer.count == 2 && issuer.violations == 0 && store.token()?.refreshToken == "r2")
            }
        }
    }

    @Test func aChangeOfTheStoreByOthersReplacesATokenThatWasNotStored() async throws {
        let issuer = RotatingIssuer()
        let accepted = Mutex("a1")
        try await withIssuer(
            Self.server(accepting: { accepted.withLock { $0 } }) { issuer.respond(to: $0) }
        ) { client, server in
            let store = UnreliableStore(OAuthToken(accessToken: "a0", refreshToken: "r0"))
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, _ in
                try await get(api, server)
                store.works.withLock { $0 = true }
                try await store.replace(with: OAuthToken(accessToken: "b0", refreshToken: "s0"))
                accepted.withLock { $0 = "b0" }
                try await get(api, server)
                #expect(issuer.count == 1 && store.token()?.accessToken == "b0")
            }
        }
    }

    @Test func anImmediateShutdownOfTheIssuersSessionDoesNotLoseTheNewToken() async throws {
        let issuer = RotatingIssuer()
        let gate = Gate()
        try await withIssuer(
            Self.server(accepting: { "a1" }) { request in
                let answer = issuer.respond(to: request)
                await gate.wait()
                return answer
            }
        ) { client, server in
            let store = MemoryTokenStore(OAuthToken(accessToken: "a0", refreshToken: "r0"))
            let rules = OAuthAuthenticator(client: client, store: store)
            try await withAPI(rules, server) { api, _ in
                let request = Task { try await get(api, server) }
                try await poll { issuer.count == 1 }
                await client.session.shutdown(.immediate)
                gate.open()
                try await request.value
                #expect(store.token()?.refreshToken == "r1")
            }
            let error = await oauthError { try await rules.renew(store.token()) }
            #expect((error?.underlying as? SessionError)?.code == .shutDown)
            #expect(issuer.count == 1 && issuer.violations == 0)
        }
    }

    @Test func aLoginThatWasRemovedElsewhereIsNotRenewed() async throws {
        let issuer = RotatingIssuer()
        let accepted = Mutex("a0")
        for authentication in [OAuthClient.Authentication.none, .basic(secret: "s")] {
            try await withIssuer(
                Self.server(accepting: { accepted.withLock { $0 } }) { issuer.respond(to: $0) },
                authentication: authentication
            ) { client, server in
                let store = MemoryTokenStore(OAuthToken(accessToken: "a0", refreshToken: "r0"))
                try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, credential in
                    accepted.withLock { $0 = "a0" }
                    try await get(api, server)
                    try await store.replace(with: nil)
                    accepted.withLock { $0 = "x" }
                    for _ in 0..<2 {
                        let error = await #expect(throws: SessionError.self) { try await api.get(posts(server)).json() }
                        #expect((error?.underlying as? OAuthError)?.code == .loginRequired)
                        credential.credential = nil
                    }
                    #expect(store.token() == nil)
                }
                #expect(!server.recordedRequests.contains { $0.path == "/token" })
            }
        }
    }

    @Test func aTokenThatWasNeverStoredIsRenewedFromMemory() async throws {
        let issuer = RotatingIssuer()
        try await withIssuer(Self.server(accepting: { "a1" }) { issuer.respond(to: $0) }) { client, server in
            let rules = OAuthAuthenticator(client: client)
            let token = OAuthToken(accessToken: "a0", refreshToken: "r0")
            #expect(try await rules.renew(token).accessToken == "a1")
            try await rules.store.replace(with: nil)
            #expect(await oauthError { try await rules.renew(token) }?.code == .loginRequired)
            #expect(issuer.count == 1)
        }
    }

    @Test func aUsersTokenIsNotFollowedByOneOfTheClient() async throws {
        try await withIssuer(
            Self.server(accepting: { "s" }) { _ in tokenAnswer("s") }, authentication: .basic(secret: "s")
        ) { client, server in
            let store = MemoryTokenStore(OAuthToken(accessToken: "a0"))
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, _ in
                let error = await #expect(throws: SessionError.self) { try await api.get(posts(server)).json() }
                #expect((error?.underlying as? OAuthError)?.code == .loginRequired)
            }
            #expect(!server.recordedRequests.contains { $0.path == "/token" })
            #expect(store.token()?.accessToken == "a0")
        }
    }

    /// Some issuers send a lifetime of zero.
    @Test func aTokenWithoutALifetimeIsNotRenewedForEachRequest() async throws {
        let issuer = RotatingIssuer(lifetime: 0)
        let time = Mutex(Date(timeIntervalSince1970: 1_000_000))
        try await withIssuer(
            Self.server(accepting: { "a\(issuer.count)" }) { issuer.respond(to: $0) },
            configure: { $0.now = { time.withLock { $0 } } }
        ) { client, server in
            let store = MemoryTokenStore(OAuthToken(accessToken: "x", refreshToken: "r0"))
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, _ in
                for count in 1...3 {
                    for _ in 0..<20 { try await get(api, server) }
                    #expect(issuer.count == count)
                    time.withLock { $0 += 10 }
                }
            }
        }
    }

    @Test func aClockThatJumpsCausesOneRenewalAtMost() async throws {
        let issuer = RotatingIssuer()
        let time = Mutex(Date(timeIntervalSince1970: 1_000_000))
        try await withIssuer(
            Self.server(accepting: { "a\(issuer.count)" }) { issuer.respond(to: $0) },
            configure: { $0.now = { time.withLock { $0 } } }
        ) { client, server in
            let now = time.withLock { $0 }
            let store = MemoryTokenStore(
                OAuthToken(accessToken: "a0", refreshToken: "r0", issued: now, expires: now.addingTimeInterval(3600)))
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, _ in
                for (jump, renewals) in [(0.0, 0), (1e9, 1), (-2e9, 1), (1e9, 1)] {
                    time.withLock { $0 += jump }
                    for _ in 0..<5 { try await get(api, server) }
                    #expect(issuer.count == renewals)
                }
            }
        }
    }

    /// The issuer has accepted the refresh token, so its answer must not be lost.
    @Test func aRenewalWithoutWaitersIsStored() async throws {
        let issuer = RotatingIssuer()
        let gate = Gate()
        try await withIssuer(
            Self.server(accepting: { "a1" }) { request in
                let answer = issuer.respond(to: request)
                await gate.wait()
                return answer
            }
        ) { client, server in
            let store = MemoryTokenStore(OAuthToken(accessToken: "a0", refreshToken: "r0"))
            try await withAPI(OAuthAuthenticator(client: client, store: store), server) { api, credential in
                let request = Task { try await api.get(posts(server)).json() }
                try await poll { issuer.count == 1 }
                request.cancel()
                let error = await #expect(throws: SessionError.self) { try await request.value }
                #expect(error?.code == .cancelled)
                gate.open()
                try await poll { credential.credential?.accessToken == "a1" }
                #expect(store.token()?.refreshToken == "r1")
                try await get(api, server)
            }
            #expect(issuer.count == 1 && issuer.violations == 0)
        }
    }

    @Test func changesOfAStoreInMemoryAreOneAtATime() async throws {
        let (store, running) = (MemoryTokenStore(OAuthToken(accessToken: "0")), Counter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await store.update { token in
                        #expect(running.add(1) == 1)
                        await Task.yield()
                        _ = running.add(-1)
                        return OAuthToken(accessToken: "\((token.flatMap { Int($0.accessToken) } ?? 0) + 1)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(store.token()?.accessToken == "100")
    }

    @Test func aCallerThatWaitsForAStoreCanBeCancelled() async throws {
        let store = MemoryTokenStore()
        let (gate, isChanging) = (Gate(), Gate())
        let first = Task {
            _ = try await store.update { _ in
                isChanging.open()
                await gate.wait()
                return OAuthToken(accessToken: "first")
            }
        }
        await isChanging.wait()
        let waiting = (0..<3).map { _ in
            Task {
                try await store.update { token in
                    #expect(token?.accessToken == "first")
                    return OAuthToken(accessToken: "waiting")
                }
            }
        }
        try await poll { store.waiterCount == 3 }
        for task in waiting.dropLast() {
            task.cancel()
            #expect(await oauthError { try await task.value }?.code == .cancelled)
        }
        // The change that runs is not cancelled, and neither is the caller that still waits.
        #expect(store.waiterCount == 1 && store.token() == nil)
        gate.open()
        try await first.value
        #expect(try await waiting[2].value?.accessToken == "waiting" && store.token()?.accessToken == "waiting")
    }
}

/// A store that changes its token only while it works.
private final class UnreliableStore: TokenStore {
    private let memory: MemoryTokenStore
    let works = Mutex(false)

    init(_ token: OAuthToken) { memory = MemoryTokenStore(token) }

    func token() -> OAuthToken? { memory.token() }

    func update(
        _ change: @escaping @Sendable (OAuthToken?) async throws -> OAuthToken?
    ) async throws -> OAuthToken? {
        try await memory.update { [self] token in
            let new = try await change(token)
            guard works.withLock({ $0 }) else { throw OAuthError(.tokenStoreFailed, "The disk is full.") }
            return new
        }
    }
}

/// A number that tasks change.
private final class Counter: Sendable {
    private let value = Mutex(0)

    func add(_ summand: Int) -> Int {
        value.withLock { value in
            value += summand
            return value
        }
    }
}

/// A gate for tasks that is opened once.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func wait() async {
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(waiter) }
                return state.isOpen
            }
            if isOpen { waiter.resume() }
        }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
