import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

/// A call's additions to the chain of its session, and the questions to the retriers.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct CallChainTests {
    /// The endings of a call.
    enum Ending: CaseIterable {
        case response, handle, stream, streamTask, download, downloadTask

        func send(_ call: HTTPCall, in folder: ScratchFolder) async throws {
            switch self {
            case .response: try await call.response()
            case .handle: _ = try await call.task().value
            case .stream: _ = try await call.bytes().body.collect(upTo: 100)
            case .streamTask: _ = try await call.streamTask().response.body.collect(upTo: 100)
            case .download: try await call.download(to: folder["file"])
            case .downloadTask: _ = try await call.downloadTask(to: folder["file"]).value
            }
        }
    }

    private struct Adapter: RequestAdapter {
        let name: String

        func adapt(_ request: SessionRequest) async throws -> SessionRequest {
            var request = request
            request.headerFields[.accept] = (request.headerFields[.accept] ?? "") + name
            return request
        }
    }

    private struct Retrier: RequestRetrier {
        let name: String
        var seen = EventRecorder<String>()
        var limit = 1

        func decide(on attempt: RetryPolicy.Attempt) async throws -> RetryPolicy.Decision {
            seen.record("\(name) \(attempt.number) \(attempt.error.map { "\($0.code)" } ?? "no error")")
            return attempt.number <= limit ? .retry(after: .zero) : .doNotRetry
        }
    }

    private func interceptor(_ name: String, _ calls: EventRecorder<String>) -> ClosureInterceptor {
        ClosureInterceptor { request, next in
            calls.record(name)
            return try await next(request)
        }
    }

    @Test(arguments: Ending.allCases)
    func interceptorsOfACallAreOutsideOfTheSessions(ending: Ending) async throws {
        let calls = EventRecorder<String>()
        let client = try makeClient(StubTransport { _ in .json("1") }) {
            $0.interceptors = [interceptor("session", calls)]
        }
        try await withScratchFolder { folder in
            let call = client.get("x").interceptor(interceptor("first", calls)).interceptor(
                interceptor("second", calls))
            try await ending.send(call, in: folder)
        }
        #expect(calls.events == ["first", "second", "session"])
    }

    @Test(arguments: Ending.allCases)
    func adaptersOfACallFollowTheSessions(ending: Ending) async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport) { $0.requestAdapters = [Adapter(name: "a")] }
        try await withScratchFolder { folder in
            try await ending.send(client.get("x").adapter(Adapter(name: "b")), in: folder)
            try await ending.send(client.get("x"), in: folder)
        }
        #expect(transport.requests.map { $0.head.headerFields[.accept] } == ["ab", "a"])
    }

    @Test(arguments: Ending.allCases)
    func aCallIsRetriedByItsOwnPolicy(ending: Ending) async throws {
        let transport = StubTransport { $0.index == 0 ? .status(503, headerFields: [.retryAfter: "0"]) : .json("1") }
        let client = try makeClient(transport)
        try await withScratchFolder { folder in
            try await ending.send(client.get("x").retry(.limited(to: 1)), in: folder)
        }
        #expect(transport.requests.count == 2)
    }

    @Test func aCallCanForbidRetries() async throws {
        let transport = StubTransport { _ in .status(503, headerFields: [.retryAfter: "0"]) }
        let client = try makeClient(transport) { $0.retryPolicy = .limited(to: 3) }
        await #expect(throws: SessionError.self) { try await client.get("x").retry(.never).response() }
        #expect(transport.requests.count == 1)
    }

    @Test func aCallsRetrierDecidesBeforeTheSessions() async throws {
        let seen = EventRecorder<String>()
        let client = try makeClient(StubTransport { _ in .status(500) }) {
            $0.retriers = [Retrier(name: "session", seen: seen, limit: 2)]
        }
        await #expect(throws: SessionError.self) {
            try await client.get("x").retrier(Retrier(name: "call", seen: seen)).response()
        }
        #expect(
            seen.events == [
                "call 1 no error", "call 2 no error", "session 2 no error", "call 3 no error", "session 3 no error",
            ])
    }

    @Test(arguments: Surface.allCases)
    func retriersAreAskedAboutResponsesThatCannotBeDecoded(surface: Surface) async throws {
        let retrier = Retrier(name: "r", limit: 2)
        let transport = StubTransport { .json($0.index == 0 ? "{" : "1") }
        let client = try makeClient(transport) { $0.retriers = [RefusingResponses(base: retrier)] }
        let response = try await surface.send("x", with: client).get()
        #expect(response.value == 1)
        #expect(response.metrics.count == 2)
        #expect(retrier.seen.events == ["r 1 decodingFailed"])
    }

    @Test(arguments: Surface.allCases)
    func aRetrierThatGivesUpLeavesTheError(surface: Surface) async throws {
        let retrier = Retrier(name: "r", limit: 1)
        let client = try makeClient(StubTransport { _ in .json("{") }) {
            $0.retriers = [RefusingResponses(base: retrier)]
        }
        let error = await surface.send("x", with: client).error
        #expect(error?.code == .decodingFailed)
        #expect(error?.metrics.count == 2)
        #expect(retrier.seen.events == ["r 1 decodingFailed", "r 2 decodingFailed"])
    }

    /// Retries failures only.
    private struct RefusingResponses: RequestRetrier {
        let base: Retrier

        func decide(on attempt: RetryPolicy.Attempt) async throws -> RetryPolicy.Decision {
            attempt.error == nil ? .doNotRetry : try await base.decide(on: attempt)
        }
    }

    /// Adds the current token, and refreshes it once the server has refused that one.
    private final class Tokens: RequestAdapter, RequestRetrier {
        private let token = Mutex(1)
        let refreshes = EventRecorder<Int>()

        func adapt(_ request: SessionRequest) async throws -> SessionRequest {
            var request = request
            request.headerFields[.authorization] = "Bearer \(token.withLock { $0 })"
            return request
        }

        func decide(on attempt: RetryPolicy.Attempt) async throws -> RetryPolicy.Decision {
            guard attempt.head?.status == .unauthorized, attempt.number == 1 else { return .doNotRetry }
            token.withLock { token in
                guard attempt.sentRequest.headerFields[.authorization] == "Bearer \(token)" else { return }
                token += 1
                refreshes.record(token)
            }
            return .retry(after: .zero)
        }
    }

    @Test func aTokenThatSeveralRequestsHadIsRefreshedOnce() async throws {
        let tokens = Tokens()
        let transport = StubTransport { request in
            request.head.headerFields[.authorization] == "Bearer 2" ? .json("1") : .status(401)
        }
        let client = try makeClient(transport) {
            $0.requestAdapters = [tokens]
            $0.retriers = [tokens]
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { try await client.get("x").response() } }
            try await group.waitForAll()
        }
        #expect(tokens.refreshes.events == [2])
    }

    @Test func aCallToARequestCanHaveAnotherBody() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        try await client.call(makeRequest("x", method: .post)).body(json: ["a": 1]).response()
        let sent = try #require(transport.requests.first)
        #expect(sent.head.path == "/x")
        #expect(sent.head.method == .post)
        #expect(sent.head.headerFields[.contentType] == "application/json")
    }

    @Test func aRequestKeepsItsOwnFieldsAtAnotherOrigin() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport) { $0.headerFields = [.authorization: "Bearer session"] }
        let url = try #require(URL(string: "http://elsewhere.example/x"))
        let fields: HTTPFields = [.authorization: "Bearer own", .contentType: "text/csv"]
        let request = SessionRequest(url: url, method: .post, headerFields: fields)
        try await client.call(request).body(.data(Data("a".utf8))).response()
        try await client.call(SessionRequest(url: url)).response()
        try await client.post("http://elsewhere.example/x").body(.data(Data("a".utf8))).response()
        let sent = transport.requests.map(\.head.headerFields)
        try #require(sent.map { $0[.authorization] } == ["Bearer own", nil, nil])
        #expect(sent[0][.contentType] == "text/csv")
    }
}
