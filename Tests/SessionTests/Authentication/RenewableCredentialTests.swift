import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RenewableCredentialTests {
    /// The credential for `http://example.com`, whose server accepts one token.
    private func makeCredential(
        _ issuer: TokenIssuer, _ token: Int? = 1, limit: Int = 5,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) throws -> RenewableCredential<TokenIssuer> {
        RenewableCredential(
            issuer, token, origins: [try #require(Origin("http://example.com"))], renewalLimit: limit,
            renewalWindow: .seconds(30), now: now)
    }

    private func makeSession(
        _ credential: RenewableCredential<TokenIssuer>, accepting token: Int = 2,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> (HTTPSession, StubTransport) {
        let stub = StubTransport { request in
            request.head.headerFields[.authorization] == "Bearer \(token)" ? .json("1") : .status(.unauthorized)
        }
        let session = try makeClient(stub) {
            $0.authenticator = .renewing(credential)
            configure(&$0)
        }
        return (session, stub)
    }

    @Test(arguments: Surface.allCases, Version.allCases)
    func aThousandRequestsRenewOnce(surface: Surface, version: Version) async throws {
        var configuration = MockServer.Configuration()
        configuration.httpVersions = version.ofServer
        let routes = MockServer.Routes {
            $0.on("/*") { $0.headerFields[.authorization] == "Bearer 2" ? .json("1") : .status(.unauthorized) }
        }
        try await withMockServer(routes: routes, configuration: configuration) { server in
            let issuer = TokenIssuer()
            let credential = RenewableCredential(issuer, 1, for: [try Origin(server.url)])
            let session = try HTTPSession(baseURL: server.url) {
                $0.httpVersions = version.ofClient
                $0.authenticator = .renewing(credential)
            }
            let values = await withTaskGroup(of: JSONValue?.self) { group in
                for number in 0..<1000 {
                    group.addTask { await surface.send("\(number)", with: session).success?.value }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            await session.shutdown()
            #expect(values.count == 1000 && values.allSatisfy { $0 == 1 })
            #expect(issuer.count == 1)
            // Each request was refused once at most.
            #expect(server.recordedRequests.count <= 2000)
        }
    }

    @Test func aRequestThatWasRefusedWithAnEarlierCredentialIsSentAgain() async throws {
        let issuer = TokenIssuer()
        let credential = try makeCredential(issuer)
        let stub = StubTransport { request in
            if request.head.headerFields[.authorization] == "Bearer 7" { return .json("1") }
            credential.credential = 7
            return .status(.unauthorized)
        }
        let session = try makeClient(stub) { $0.authenticator = .renewing(credential) }
        #expect(try await session.get("x").json() == 1)
        #expect(issuer.count == 0 && stub.requests.count == 2)
    }

    @Test func aCredentialIsRenewedBeforeItExpires() async throws {
        let issuer = TokenIssuer()
        issuer.expire(1)
        let (session, stub) = try makeSession(try makeCredential(issuer))
        #expect(try await session.get("x").json() == 1)
        #expect(issuer.count == 1 && stub.requests.count == 1)
    }

    /// The issuer ignores cancellation, and answers only at the end.
    @Test func aWaitingRequestEndsWithItsTimeoutAndItsCancellation() async throws {
        let issuer = TokenIssuer(isOpen: false)
        let (session, stub) = try makeSession(try makeCredential(issuer))
        let patient = Task { try await session.get("x").json() }
        try await poll { issuer.count == 1 }
        let error = await #expect(throws: SessionError.self) {
            try await session.get("x").timeout(.milliseconds(20)).json()
        }
        #expect(error?.timeout == .request)
        let cancelled = Task { try await session.get("x").json() }
        cancelled.cancel()
        #expect(await cancelled.result.failure?.code == .cancelled)
        #expect(issuer.cancellations == 0)
        issuer.open()
        #expect(try await patient.value == 1)
        #expect(issuer.count == 1)
        #expect(stub.requests.count { $0.head.headerFields[.authorization] == "Bearer 2" } == 1)
    }

    /// The issuer ignores cancellation, and answers only at the end.
    @Test(arguments: Surface.allCases)
    func eachSurfaceStopsWaitingAtItsTimeout(surface: Surface) async throws {
        let issuer = TokenIssuer(isOpen: false)
        let credential = try makeCredential(issuer)
        let (session, stub) = try makeSession(credential)
        var options = RequestOptions()
        options.timeout = .milliseconds(20)
        let error = await surface.send("x", options: options, with: session).error
        #expect(error?.timeout == .request && credential.waiterCount == 0)
        #expect(issuer.count == 1 && issuer.cancellations == 1 && stub.requests.count == 1)
        issuer.open()
    }

    /// The issuer ignores cancellation, and answers only at the end.
    @Test func aCancelledHandleStopsWaiting() async throws {
        let issuer = TokenIssuer(isOpen: false)
        let credential = try makeCredential(issuer)
        let (session, stub) = try makeSession(credential)
        let tasks = (0..<10).map { _ in session.get("x").jsonTask() }
        for task in tasks { task.resume() }
        try await poll { credential.waiterCount == 10 }
        for task in tasks { task.cancel() }
        for task in tasks { #expect(await failure(of: task)?.code == .cancelled) }
        #expect(credential.waiterCount == 0 && issuer.count == 1 && issuer.cancellations == 1)
        #expect(stub.requests.allSatisfy { $0.head.headerFields[.authorization] == "Bearer 1" })
        issuer.open()
    }

    /// A refresh token may be used once, so the next renewal begins when the cancelled one has ended.
    @Test func theLastWaiterCancelsTheRenewal() async throws {
        let issuer = TokenIssuer(isOpen: false)
        issuer.fail()
        let (session, _) = try makeSession(try makeCredential(issuer))
        let first = Task { try await session.get("x").json() }
        try await poll { issuer.count == 1 }
        first.cancel()
        #expect(await first.result.failure?.code == .cancelled)
        #expect(issuer.cancellations == 1)
        let second = Task { try await session.get("x").json() }
        let third = Task { try await session.get("x").json() }
        issuer.open()
        #expect(try await second.value == 1)
        #expect(try await third.value == 1)
        #expect(issuer.mostRunning == 1 && issuer.count == 2)
    }

    @Test func theResultOfACancelledRenewalIsKept() async throws {
        let issuer = TokenIssuer(isOpen: false)
        let credential = try makeCredential(issuer)
        let (session, _) = try makeSession(credential)
        let first = Task { try await session.get("x").json() }
        try await poll { issuer.count == 1 }
        first.cancel()
        _ = await first.result
        issuer.open()
        try await poll { credential.credential == 2 }
        #expect(try await session.get("x").json() == 1)
        #expect(issuer.count == 1)
    }

    @Test func aFailedRenewalFailsAllThatWait() async throws {
        let issuer = TokenIssuer(isOpen: false)
        issuer.fail()
        let credential = try makeCredential(issuer)
        let (session, stub) = try makeSession(credential)
        let requests = (0..<50).map { number in Task { try await session.get("x\(number)").json() } }
        try await poll { credential.waiterCount == 50 }
        issuer.open()
        for (number, request) in requests.enumerated() {
            let error = await request.result.failure
            #expect(error?.code == .credentialRenewalFailed && error?.url?.lastPathComponent == "x\(number)")
            #expect(error?.underlying as? TokenIssuer.Failure == TokenIssuer.Failure())
        }
        #expect(issuer.count == 1)
        // The refused token is not sent again.
        let sent = stub.requests.count
        #expect(try await session.get("x").json() == 1)
        #expect(stub.requests.count == sent + 1)
    }

    @Test func renewalsAreLimitedInAWindow() async throws {
        let issuer = TokenIssuer()
        let time = Mutex(ContinuousClock.now)
        let credential = try makeCredential(issuer, limit: 2) { time.withLock { $0 } }
        let (session, stub) = try makeSession(credential, accepting: 0)
        // Each request is refused with a new credential too.
        for count in 1...2 {
            #expect(await Surface.async.send("x", with: session).error?.code == .unacceptableStatus)
            #expect(issuer.count == count && stub.requests.count == 2 * count)
        }
        let error = await Surface.async.send("x", with: session).error
        #expect(error?.code == .credentialRenewalFailed && error?.underlying == nil)
        #expect(issuer.count == 2 && stub.requests.count == 5)
        time.withLock { $0 += .seconds(30) }
        #expect(await Surface.async.send("x", with: session).error?.code == .unacceptableStatus)
        #expect(issuer.count == 3)
    }

    @Test func aCredentialThatIsSetDuringARenewalIsKept() async throws {
        let issuer = TokenIssuer(isOpen: false)
        let credential = try makeCredential(issuer)
        let (session, _) = try makeSession(credential, accepting: 9)
        let request = Task { try await session.get("x").json() }
        try await poll { issuer.count == 1 }
        credential.credential = 9
        issuer.open()
        #expect(try await request.value == 1)
        #expect(credential.credential == 9)
    }

    @Test func aCredentialThatIsSetDuringARenewalThatFailsIsUsed() async throws {
        let issuer = TokenIssuer(isOpen: false)
        issuer.fail()
        let credential = try makeCredential(issuer)
        let (session, _) = try makeSession(credential, accepting: 9)
        let request = Task { try await session.get("x").json() }
        try await poll { issuer.count == 1 }
        credential.credential = 9
        issuer.open()
        #expect(try await request.value == 1)
        #expect(credential.credential == 9 && issuer.count == 1)
    }

    @Test func aRenewalThroughTheSameSessionHasNoCredential() async throws {
        let client = Mutex<HTTPSession?>(nil)
        struct Rules: Authenticator {
            let issue: @Sendable () async throws -> Int
            func apply(_ token: Int, to request: inout SessionRequest) {
                request.headerFields[.authorization] = "Bearer \(token)"
            }
            func renew(_ token: Int?) async throws -> Int { try await issue() }
        }
        let origin = try #require(Origin("http://example.com"))
        let credential = RenewableCredential(
            Rules { try await client.withLock { $0 }?.get("token").value(as: Int.self) ?? 0 }, 1, for: [origin])
        let stub = StubTransport { request in
            if request.head.path?.hasSuffix("token") == true { return .json("2") }
            return request.head.headerFields[.authorization] == "Bearer 2" ? .json("1") : .status(.unauthorized)
        }
        let session = try makeClient(stub) { $0.authenticator = .renewing(credential) }
        client.withLock { $0 = session }
        #expect(try await session.get("x").json() == 1)
        #expect(stub.requests.map { $0.head.headerFields[.authorization] } == ["Bearer 1", nil, "Bearer 2"])
        client.withLock { $0 = nil }
    }

    /// The server of the origin redirects to another one and back.
    @Test func aRedirectTakesTheCredentialToItsOriginsAlone() async throws {
        let credential = try makeCredential(TokenIssuer(), 2)
        let stub = StubTransport { request in
            switch (request.head.authority, request.head.path) {
            case ("example.com", "/api/a"): .status(.found, headerFields: [.location: "http://other.test/b"])
            case ("other.test", _): .status(.found, headerFields: [.location: "http://example.com/c"])
            default: .json("1")
            }
        }
        let session = try makeClient(stub) { $0.authenticator = .renewing(credential) }
        #expect(try await session.get("a").json() == 1)
        #expect(stub.requests.map { $0.head.headerFields[.authorization] } == ["Bearer 2", nil, "Bearer 2"])
    }

    @Test func aBodyThatCannotBeReadAgainFailsBeforeTheRenewal() async throws {
        let issuer = TokenIssuer()
        let (session, _) = try makeSession(try makeCredential(issuer))
        let body = HTTPRequestBody.stream(length: nil, isReplayable: false) { NoBytes() }
        let error = await #expect(throws: SessionError.self) {
            try await session.call(makeRequest(method: .post, body: body)).response()
        }
        #expect(error?.code == .requestBodyFailed && error?.head?.status == .unauthorized)
        #expect(issuer.count == 0)
    }

    private struct NoBytes: HTTPRequestBodyReader {
        mutating func next() -> Data? { nil }
    }

    /// Waits until a condition that another task fulfils is true.
    private func poll(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }
}

extension Result where Failure == any Error {
    fileprivate var failure: SessionError? {
        if case .failure(let error) = self { error as? SessionError } else { nil }
    }
}
