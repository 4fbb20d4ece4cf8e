import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetCookies
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

@Suite("Links that have nothing to do", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct PassiveInterceptorTests {
    private static func equip(
        _ configuration: inout HTTPSession.Configuration, jar: CookieJar, store: MemoryCacheStore
    ) {
        configuration.cookieJar = jar
        configuration.cacheStore = store
        configuration.retryPolicy = RetryPolicy(limit: 2)
        configuration.retryPolicy.backoff.first = .zero
    }

    /// The number of links that a request passes before one is called, and the number of links.
    private func way(
        _ request: SessionRequest, own: CallChain? = nil,
        _ configure: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) -> (end: Int, links: Int) {
        var configuration = HTTPSession.Configuration()
        configure(&configuration)
        let engine = Engine(configuration, transport: StubTransport())
        let exchange = Exchange(delivery: .streamed, call: CallContext(own: own))
        return (engine.descend(request, from: 0, exchange).end, engine.links.count)
    }

    private func request(_ method: HTTPRequest.Method = .get) throws -> SessionRequest {
        SessionRequest(url: try #require(URL(string: "http://a.test/a")), method: method)
    }

    @Test func aPlainRequestPassesAllLinks() throws {
        let (jar, store) = (CookieJar(), MemoryCacheStore())
        for method in [HTTPRequest.Method.get, .head] {
            let way = try way(request(method)) { Self.equip(&$0, jar: jar, store: store) }
            #expect(way.end == way.links && way.links == 7)
        }
        let bare = try way(request(.post))
        #expect(bare.end == bare.links)
    }

    @Test func theFirstActiveLinkStopsARequest() throws {
        let (jar, store) = (CookieJar(), MemoryCacheStore())
        // Retries, adapters, redirects, authentication, cookies, the cache, and the server's consent.
        #expect(try way(request(.post)) { Self.equip(&$0, jar: jar, store: store) }.end == 5)
        jar.store(setCookieFields: [.setCookie: "a=1"], of: try request().url)
        #expect(try way(request()) { Self.equip(&$0, jar: jar, store: store) }.end == 4)
        #expect(try way(request()) { $0.retriers = [RetryPolicy.never] }.end == 0)
        let own = CallChain(interceptors: [RetryInterceptor(policy: .never, hasRetriers: false)])
        #expect(try way(request(), own: own).end == -1)
    }

    /// A retry, a redirect, cookies of both, a coding and a cache that stores: each link acts on a response after its
    /// request has passed it.
    @Test func eachLinkActsOnTheResponse() async throws {
        let content = Data(longText.utf8)
        let (jar, store) = (CookieJar(), MemoryCacheStore())
        let unavailable = MockResponse.status(.serviceUnavailable).settingCookies("a=1")
        let redirect = MockResponse.redirect(to: "/b").settingCookies("b=2")
        let response = try MockResponse.coded(content, [.gzip], [.cacheControl: "max-age=60"])
        let visits = Mutex(0)
        try await withMockClient(configure: { Self.equip(&$0, jar: jar, store: store) }) {
            $0.on("/a") { _ in
                visits.withLock { visits in
                    visits += 1
                    return visits == 1 ? unavailable : redirect
                }
            }
            $0.on("/b", response)
        } perform: { session, server in
            let received = try await session.get("/a").response()
            #expect(received.value == content && received.contentCodings == [.gzip])
            #expect(received.redirects.count == 1 && received.metrics.count == 3)
            #expect(received.cacheOutcome == .miss && !store.isEmpty)
            #expect(jar.all.map(\.name) == ["a", "b"])
            #expect(server.recordedRequests.map { $0.headerFields[.cookie] } == [nil, "a=1", "a=1; b=2"])
            let again = try await session.get("/b").response()
            #expect(again.value == content && again.cacheOutcome == .hit && again.metrics.isEmpty)
        }
    }

    /// A response that may not be stored is a miss as well.
    @Test func aResponseThatIsNotStoredIsCounted() async throws {
        let (jar, store) = (CookieJar(), MemoryCacheStore())
        var response = MockResponse.text("a")
        response.headerFields[.cacheControl] = "no-store"
        try await withMockClient(configure: { Self.equip(&$0, jar: jar, store: store) }) { [response] in
            $0.on("/a", response)
        } perform: { session, _ in
            let received = try await session.get("/a").response()
            #expect(received.cacheOutcome == .miss && store.isEmpty)
            #expect(await store.statistics().misses == 1)
        }
    }

    /// A failure is retried, and the last one is thrown with all attempts.
    @Test func aFailureIsRetried() async throws {
        let (jar, store) = (CookieJar(), MemoryCacheStore())
        let transport = StubTransport { _ in throw TransportError(.connectionFailed, "The server is away.") }
        var configuration = HTTPSession.Configuration()
        Self.equip(&configuration, jar: jar, store: store)
        let session = try HTTPSession(configuration: configuration, transport: transport)
        let error = await sessionError { try await session.get("http://a.test/a").data() }
        #expect(error?.code == .connectionFailed && transport.requests.count == 3)
        await session.shutdown()
    }
}
