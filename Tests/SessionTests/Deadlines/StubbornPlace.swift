import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetMessages
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Synchronization

/// The places where a session waits for user code.
enum StubbornPlace: CaseIterable, Sendable {
    case interceptor, interceptorAfterTheResponse, interceptorWithATaskOfItsOwn, callsInterceptor
    case adapter, retrier, clock, transport, cacheStore
    case redirectHook, challengeHook, retryHook, bodyHook, responseHook, streamHook, cachingHook, dataHook
    case responseBody, requestBody
    /// The body is read for its hash, which Digest with auth-int needs before the second attempt.
    case hashedBody

    /// Whether the code learns that nobody waits for it; a task that the user has made does not.
    var isTold: Bool { self != .interceptorWithATaskOfItsOwn }

    /// A client with requests that reach the place.
    func makeClient(_ code: StubbornCode) throws -> HTTPSession {
        try SessionTests.makeClient(makeTransport(code)) { configure(&$0, code) }
    }

    private func makeTransport(_ code: StubbornCode) -> StubTransport {
        StubTransport { request in
            switch self {
            case .transport: await code.run()
            case .redirectHook where request.index == 0: return .status(302, headerFields: [.location: "/b"])
            case .bodyHook where request.index == 0: return .status(307, headerFields: [.location: "/b"])
            case .challengeHook: return .status(401, headerFields: [.wwwAuthenticate: "Basic realm=\"a\""])
            case .hashedBody: return .status(401, headerFields: [.wwwAuthenticate: StubbornHashing.challenge])
            case .retryHook, .clock: return .status(503)
            case .cachingHook, .cacheStore:
                return .status(200, headerFields: [.cacheControl: "max-age=60"], body: Data("1".utf8))
            default: break
            }
            return .json("1")
        }
    }

    private func configure(_ configuration: inout HTTPSession.Configuration, _ code: StubbornCode) {
        switch self {
        case .interceptor, .interceptorAfterTheResponse, .interceptorWithATaskOfItsOwn, .responseBody:
            configuration.interceptors = [StubbornInterceptor(place: self, code: code)]
        case .adapter: configuration.requestAdapters = [StubbornAdapter(code: code)]
        case .retrier: configuration.retriers = [StubbornRetrier(code: code)]
        case .clock:
            configuration.retryPolicy = .limited(to: 1)
            configuration.retryPolicy.backoff.first = .milliseconds(1)
            configuration.clock = StubbornClock(code: code)
        case .cacheStore: configuration.cacheStore = StubbornStore(code: code)
        case .hashedBody: StubbornHashing.setCredential(&configuration.hooks)
        case .cachingHook:
            configuration.cacheStore = MemoryCacheStore()
            setHooks(&configuration.hooks, code)
        default: setHooks(&configuration.hooks, code)
        }
    }

    private func setHooks(_ hooks: inout TaskHooks, _ code: StubbornCode) {
        switch self {
        case .redirectHook:
            hooks.willRedirect = { _, _, _ in
                await code.run()
                return nil
            }
        case .challengeHook:
            hooks.didReceiveChallenge = { _, _ in
                await code.run()
                return .reject
            }
        case .retryHook:
            hooks.willRetry = { _, _, decision in
                await code.run()
                return decision
            }
        case .bodyHook:
            hooks.needsNewBody = { _, _ in
                await code.run()
                return .data(Data())
            }
        case .responseHook:
            hooks.didReceiveResponse = { _, _ in
                await code.run()
                return .allow
            }
        case .streamHook: hooks.didReceiveResponse = { _, _ in .becomeStream { _ in await code.run() } }
        case .cachingHook:
            hooks.willCacheResponse = { _, _ in
                await code.run()
                return .store
            }
        case .dataHook: hooks.didReceiveData = { _, _ in await code.run() }
        default: break
        }
    }

    /// The call that comes to the place.
    func call(of client: HTTPSession, _ code: StubbornCode) -> HTTPCall {
        switch self {
        case .callsInterceptor:
            client.get("x").interceptor(StubbornInterceptor(place: self, code: code))
        case .requestBody, .bodyHook:
            client.post("x").body(.chunks(StubbornChunks(code: self == .bodyHook ? nil : code), length: nil))
        case .hashedBody: client.post("x").body(StubbornHashing.body(code))
        default: client.get("x")
        }
    }
}

/// Digest with auth-int over a body that blocks when it is read again.
private enum StubbornHashing {
    static let challenge = #"Digest realm="a", qop="auth-int", algorithm=SHA-256, nonce="1""#

    static func setCredential(_ hooks: inout TaskHooks) {
        hooks.didReceiveChallenge = { _, _ in .use(try .password(username: "a", password: "b")) }
    }

    static func body(_ code: StubbornCode) -> HTTPRequestBody {
        let readers = Mutex(0)
        return .stream(length: nil, isReplayable: true) {
            let number = readers.withLock { count in
                count += 1
                return count
            }
            return Reader(code: number == 1 ? nil : code)
        }
    }

    private struct Reader: HTTPRequestBodyReader {
        let code: StubbornCode?

        mutating func next() async throws -> Data? {
            await code?.run()
            return nil
        }
    }
}

private struct StubbornInterceptor: Interceptor {
    let place: StubbornPlace
    let code: StubbornCode

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        switch place {
        case .interceptorAfterTheResponse:
            let response = try await next(request)
            await code.run()
            return response
        case .interceptorWithATaskOfItsOwn:
            return try await Task {
                let response = try await next(request)
                await code.run()
                return response
            }.value
        case .responseBody:
            var response = try await next(request)
            response.body = .streamed(StubbornChunks(code: code))
            return response
        default:
            await code.run()
            return try await next(request)
        }
    }
}

private struct StubbornAdapter: RequestAdapter {
    let code: StubbornCode

    func adapt(_ request: SessionRequest) async throws -> SessionRequest {
        await code.run()
        return request
    }
}

private struct StubbornRetrier: RequestRetrier {
    let code: StubbornCode
    let judgesResponses = true

    func decide(on attempt: RetryPolicy.Attempt) async throws -> RetryPolicy.Decision {
        await code.run()
        return .doNotRetry
    }
}

struct StubbornClock: Clock {
    let code: StubbornCode
    let base = ManualClock()

    var now: ManualClock.Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws { await code.run() }
}

/// A sequence of one chunk, or of none.
private struct StubbornChunks: AsyncSequence, Sendable {
    typealias Element = Data
    let code: StubbornCode?

    func makeAsyncIterator() -> Iterator { Iterator(code: code) }

    struct Iterator: AsyncIteratorProtocol {
        let code: StubbornCode?

        mutating func next() async throws -> Data? {
            await code?.run()
            return nil
        }
    }
}

struct StubbornStore: CacheStore {
    let code: StubbornCode
    let base = MemoryCacheStore()

    func responses(for key: CacheKey) async throws(CacheError) -> [StoredResponse] {
        await code.run()
        return try await base.responses(for: key)
    }

    func body(of id: StoredResponse.ID) async throws(CacheError) -> (any StoredBody)? { try await base.body(of: id) }

    func beginEntry(
        _ response: StoredResponse, replacing replaced: [StoredResponse.ID]
    ) async throws(CacheError) -> any CacheEntryWriter { try await base.beginEntry(response, replacing: replaced) }

    func update(_ response: StoredResponse) async throws(CacheError) { try await base.update(response) }
    func remove(_ ids: [StoredResponse.ID]) async throws(CacheError) { try await base.remove(ids) }
    func removeAll(for keys: [CacheKey]) async throws(CacheError) { try await base.removeAll(for: keys) }
    func removeAll() async throws(CacheError) { try await base.removeAll() }
    func record(_ outcome: CacheStatistics.Outcome) { base.record(outcome) }
    func statistics() async -> CacheStatistics { await base.statistics() }
}
