import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetSerialization
import LinnetTesting
import Synchronization

@testable import LinnetSession

/// A session with a cache, its server, and the time by which the cache measures ages.
struct CacheFixture: Sendable {
    let session: HTTPSession
    let server: MockServer
    let time: CacheTime
    let store: MemoryCacheStore

    /// The number of requests that the server has received.
    var sent: Int { server.recordedRequests.count }

    /// Sends a GET, and returns the part of the cache in its response.
    @discardableResult
    func get(
        _ path: String, _ headers: HTTPFields = [:], policy: RequestOptions.CachePolicy? = nil
    ) async throws -> SessionResponse<String> {
        try await session.get(path).headers(headers).options { $0.cachePolicy = policy }.response(
            StringResponseSerializer())
    }

    func outcome(_ path: String, _ headers: HTTPFields = [:]) async throws -> CacheStatistics.Outcome? {
        try await get(path, headers).cacheOutcome
    }
}

/// A time that moves only when a test says so.
final class CacheTime: Sendable {
    /// The first instant as HTTP writes it.
    static let first = "Tue, 14 Nov 2023 22:13:20 GMT"

    private let seconds = Mutex(0.0)

    var now: Date { Date(timeIntervalSince1970: 1_700_000_000 + seconds.withLock { $0 }) }

    func advance(by more: Double) { seconds.withLock { $0 += more } }
}

/// Counts the calls of a route.
final class CallCount: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

func withCache(
    _ version: Version = .http1, store: MemoryCacheStore = MemoryCacheStore(limit: 64 << 20),
    configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
    routes: (inout MockServer.Routes) -> Void, perform: (CacheFixture) async throws -> Void
) async throws {
    let time = CacheTime()
    try await withMockClient(version) {
        $0.cacheStore = store
        $0.cacheTime = { time.now }
        try configure(&$0)
    } routes: {
        routes(&$0)
    } perform: { session, server in
        try await perform(CacheFixture(session: session, server: server, time: time, store: store))
    }
}

extension MockResponse {
    /// A text with Cache-Control and other fields, generated at the first instant.
    static func cached(
        _ text: String, _ control: String, _ fields: HTTPFields = [:], status: HTTPResponse.Status = .ok
    ) -> MockResponse {
        var response = MockResponse.text(text, status: status)
        response.headerFields[.date] = CacheTime.first
        response.headerFields[.cacheControl] = control
        for field in fields { response.headerFields.append(field) }
        return response
    }

    /// A 304 response.
    static func notModified(_ fields: HTTPFields = [:]) -> MockResponse {
        var response = MockResponse.status(.notModified)
        response.headerFields = fields
        return response
    }
}

extension MockServer.Routes {
    /// A route with responses that contain the number of the call, from 1.
    mutating func counting(
        _ path: String, _ respond: @escaping @Sendable (Int, RecordedRequest) -> MockResponse
    ) {
        let count = CallCount()
        on(path) { respond(count.next(), $0) }
    }
}
