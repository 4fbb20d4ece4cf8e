import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

/// Requests that are signed after all their fields are there.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RequestSignerTests {
    private static let signature: HTTPField.Name = .init("X-Signature") ?? .ifMatch

    /// The requests that a signer saw, in order; its signatures are numbers.
    private final class Record: Sendable {
        private let state = Mutex<[RequestSigner.Request]>([])

        var requests: [RequestSigner.Request] { state.withLock { $0 } }

        func signer(for origins: [Origin]) -> RequestSigner {
            RequestSigner(for: origins) { request in
                let number = self.state.withLock { requests in
                    requests.append(request)
                    return requests.count
                }
                request.headerFields[RequestSignerTests.signature] = "\(number)"
            }
        }
    }

    private static func origin(_ text: String = "http://example.com") throws -> Origin {
        try #require(Origin(text))
    }

    private static func lines(_ fields: HTTPFields, without names: Set<String> = []) -> [String] {
        fields.filter { !names.contains($0.name.canonicalName) }
            .map { "\($0.name.canonicalName): \($0.value)" }.sorted()
    }

    private static func signatures(_ stub: StubTransport) -> [String?] {
        stub.requests.map { $0.head.headerFields[signature] }
    }

    @Test(arguments: Version.allCases)
    func whatIsSignedIsWhatIsSent(version: Version) async throws {
        let (record, jar, store) = (Record(), CookieJar(), MemoryCacheStore())
        var configuration = MockServer.Configuration()
        configuration.httpVersions = version.ofServer
        let routes = MockServer.Routes {
            $0.on(.get, "/a") { request in
                var response = MockResponse.text("a").settingCookies("c=1")
                response.headerFields[.eTag] = "\"1\""
                response.headerFields[.cacheControl] = "no-cache"
                return request.headerFields[.ifNoneMatch] == nil ? response : .status(.notModified)
            }
            $0.on("/*", .text("b"))
        }
        try await withMockServer(routes: routes, configuration: configuration) { server in
            let origin = try Origin(server.url)
            let client = try HTTPSession(baseURL: server.url) {
                $0.httpVersions = version.ofClient
                ($0.cookieJar, $0.cacheStore) = (jar, store)
                $0.continuePolicy = .bodies(ofAtLeast: 4)
                $0.authenticator = .renewing(RenewableCredential(TokenIssuer(), 1, for: [origin]))
                $0.requestSigner = record.signer(for: [origin])
            }
            for _ in 0..<2 { #expect(try await client.get("/a?b=%20").text() == "a") }
            _ = try await client.post("/b").body(.data(Data("content".utf8))).header(.idempotencyKey, "k").response()
            _ = try await client.put("/c").header(.expect, "100-continue").header(.te, "trailers").response()
            let stream = HTTPRequestBody.stream(length: nil, isReplayable: false) { NoBytes() }
            _ = try await client.post("/d").body(stream).response()
            await client.shutdown()

            let (signed, sent) = (record.requests, server.recordedRequests)
            #expect(signed.count == 5 && sent.count == 5)
            for (signed, sent) in zip(signed, sent) {
                let own: Set<String> = ["host", "x-signature", "transfer-encoding", "connection", "te"]
                #expect(Self.lines(sent.headerFields, without: own) == Self.lines(signed.headerFields))
                #expect(signed.method == sent.method && signed.path == sent.target && signed.origin == origin)
                #expect(signed.url.absoluteString == "\(origin)\(sent.target)")
            }
            #expect(sent.map { $0.headerFields[Self.signature] } == ["1", "2", "3", "4", "5"])
            #expect(signed[1].headerFields[.ifNoneMatch] == "\"1\"" && signed[1].headerFields[.cookie] == "c=1")
            #expect(signed[0].headerFields[.acceptEncoding] != nil && signed[0].content == nil)
            #expect(signed.allSatisfy { $0.headerFields[.authorization] == "Bearer 1" })
            #expect(signed[2].headerFields[.expect] == "100-continue" && signed[2].content == Data("content".utf8))
            #expect(signed.map { $0.headerFields[.contentLength] } == [nil, nil, "7", "0", nil])
        }
    }

    private struct NoBytes: HTTPRequestBodyReader {
        mutating func next() -> Data? { nil }
    }

    @Test(arguments: Surface.allCases)
    func eachRetryAndEachRedirectIsSignedAnew(surface: Surface) async throws {
        let record = Record()
        let stub = StubTransport { request in
            switch (request.index, request.head.path) {
            case (0, _): .status(.serviceUnavailable)
            case (_, "/api/a"): .status(.found, headerFields: [.location: "/b"])
            default: .json("1")
            }
        }
        let seen = Mutex<[SessionRequest]>([])
        struct Retrier: RequestRetrier {
            let see: @Sendable (SessionRequest) -> Void
            func decide(on attempt: RetryPolicy.Attempt) -> RetryPolicy.Decision {
                see(attempt.request)
                return attempt.head?.status == .serviceUnavailable ? .retry(after: .zero) : .doNotRetry
            }
        }
        let session = try makeClient(stub) {
            $0.retriers = [Retrier { request in seen.withLock { $0.append(request) } }]
            $0.requestSigner = record.signer(for: [Origin("http://example.com")].compactMap { $0 })
        }
        #expect(try await surface.send("a", with: session).get().value == 1)
        #expect(Self.signatures(stub) == ["1", "2", "3"])
        #expect(record.requests.map(\.path) == ["/api/a", "/api/a", "/b"])
        #expect(record.requests.allSatisfy { !$0.headerFields.contains(Self.signature) })
        #expect(seen.withLock { $0.allSatisfy { !$0.headerFields.contains(Self.signature) } })
    }

    /// The server of the origin redirects to another one and back.
    @Test func anotherOriginGetsNoSignature() async throws {
        let record = Record()
        let stub = StubTransport { request in
            switch (request.head.authority, request.head.path) {
            case ("example.com", "/api/a"):
                .status(.temporaryRedirect, headerFields: [.location: "http://other.test/b"])
            case ("other.test", _): .status(.temporaryRedirect, headerFields: [.location: "http://example.com/c"])
            default: .json("1")
            }
        }
        let origin = try Self.origin()
        let session = try makeClient(stub) { $0.requestSigner = record.signer(for: [origin]) }
        #expect(try await session.get("a").json() == 1)
        #expect(Self.signatures(stub) == ["1", nil, "2"])
        _ = try await session.get("https://example.com/").response()
        #expect(Self.signatures(stub).last == .some(nil))
    }

    @Test func theAnswerToAChallengeIsSigned() async throws {
        let record = Record()
        let stub = StubTransport { request in
            request.head.headerFields[.authorization] == nil
                ? .status(.unauthorized, headerFields: [.wwwAuthenticate: "Basic realm=\"lab\""]) : .json("1")
        }
        let origin = try Self.origin()
        let store = CredentialStore()
        store.set(try .basic(username: "ada", password: "pass"), for: ProtectionSpace(origin: origin, realm: "lab"))
        let session = try makeClient(stub) {
            $0.credentialStore = store
            $0.requestSigner = record.signer(for: [origin])
        }
        #expect(try await session.get("a").json() == 1)
        #expect(Self.signatures(stub) == ["1", "2"])
        #expect(record.requests.map { $0.headerFields[.authorization] } == [nil, "Basic YWRhOnBhc3M="])
        // A user name in the URL is a credential too.
        _ = try await session.get("http://a:b@example.com/x#y").response()
        #expect(record.requests.last?.headerFields[.authorization] == "Basic YTpi")
        #expect(record.requests.last?.url.absoluteString == "http://example.com/x")
        #expect(stub.requests.last?.head.headerFields[fields: .authorization].count == 1)
    }

    @Test func aSignerCanReplaceFieldsButNotTheLength() async throws {
        let origin = try Self.origin()
        let stub = StubTransport()
        let session = try makeClient(stub) {
            $0.headerFields = [.authorization: "old", .connection: "close, X-Hop"]
            $0.requestSigner = RequestSigner(for: [origin]) { request in
                request.headerFields[.authorization] = "new"
                request.headerFields[.contentLength] = "999"
                request.headerFields[.connection] = "keep-alive"
            }
        }
        _ = try await session.post("a").body(.data(Data("b".utf8))).response()
        let sent = try #require(stub.requests.last?.head.headerFields)
        #expect(sent[.authorization] == "new" && sent[.contentLength] == nil)
        #expect(sent[.connection] == "close, X-Hop")
    }

    @Test func anErrorOfTheSignerFailsTheRequest() async throws {
        struct Broken: Error, Equatable {}
        let (origin, stub) = (try Self.origin(), StubTransport())
        let session = try makeClient(stub) {
            $0.retryPolicy = .limited(to: 3)
            $0.requestSigner = RequestSigner(for: [origin]) { request in
                if request.path == "/own" { throw SessionError(.notCached, "Own.") }
                throw Broken()
            }
        }
        for surface in Surface.allCases {
            let error = await surface.send("http://example.com/a", with: session).error
            #expect(error?.code == .signingFailed && error?.underlying as? Broken == Broken())
            #expect(error?.url?.path() == "/a")
        }
        #expect(await Surface.async.send("http://example.com/own", with: session).error?.code == .notCached)
        #expect(stub.requests.isEmpty)
    }

    /// The signer ignores cancellation, and ends at the end of the test.
    @Test func aRequestDoesNotWaitForASlowSigner() async throws {
        let (origin, stub) = (try Self.origin(), StubTransport())
        let (gate, begun) = (Signal(), Signal())
        let session = try makeClient(stub) {
            $0.requestSigner = RequestSigner(for: [origin]) { _ in
                begun.fire()
                await Task { await gate.wait() }.value
            }
        }
        let request = Task { try await session.get("a").response() }
        await begun.wait()
        request.cancel()
        await #expect(throws: SessionError.self) { try await request.value }
        let late = await #expect(throws: SessionError.self) {
            try await session.get("a").timeout(.milliseconds(20)).response()
        }
        #expect(late?.timeout == .request && stub.requests.isEmpty)
        gate.fire()
    }

    @Test func theDigestIsThatOfTheBody() async throws {
        let origin = try Self.origin()
        let stub = StubTransport()
        let session = try makeClient(stub) {
            $0.requestSigner = RequestSigner(for: [origin]) { request in
                request.headerFields[Self.signature] = try await request.contentDigest(.sha256).hexadecimal
            }
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "signed-\(UInt64.random(in: 0 ... .max))")
        try Data("hello".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        let bodies: [HTTPRequestBody?] = [nil, .data(Data("hello".utf8)), try .file(file)]
        for body in bodies { _ = try await session.call(makeRequest(method: .post, body: body)).response() }
        #expect(
            Self.signatures(stub)
                == ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", hello, hello])
        #expect(stub.requests.map(\.body) == [Data(), Data("hello".utf8), Data("hello".utf8)])
    }

    @Test func aBodyThatCanBeReadOnceHasNoDigest() async throws {
        let origin = try Self.origin()
        let stub = StubTransport()
        let session = try makeClient(stub) {
            $0.requestSigner = RequestSigner(for: [origin]) { _ = try await $0.contentDigest(.sha512) }
        }
        let body = HTTPRequestBody.stream(length: nil, isReplayable: false) { NoBytes() }
        let error = await #expect(throws: SessionError.self) {
            try await session.call(makeRequest(method: .post, body: body)).response()
        }
        #expect(error?.code == .requestBodyFailed && stub.requests.isEmpty)
    }

    /// A signature is a credential (RFC 9111, section 3.5), though the cache is above it.
    @Test(arguments: [true, false])
    func aSharedCacheStoresNoSignedResponse(isShared: Bool) async throws {
        let (origin, store) = (try Self.origin(), MemoryCacheStore())
        let stub = StubTransport { _ in .status(.ok, headerFields: [.cacheControl: "max-age=60"]) }
        let session = try makeClient(stub) {
            ($0.cacheStore, $0.isCacheShared) = (store, isShared)
            $0.requestSigner = RequestSigner(for: [origin]) { $0.headerFields[.authorization] = "HMAC 1" }
        }
        for _ in 0..<2 { _ = try await session.get("a").response() }
        #expect(stub.requests.count == (isShared ? 2 : 1) && store.isEmpty == isShared)
        _ = try await session.get("http://other.test/").response()
        #expect(!store.isEmpty)
    }
}
