import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetCompression
import LinnetSerialization
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetSession

@Suite("Content codings and the other links", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CodingChainTests {
    private let content = Data(longText.utf8)

    /// Bodies that nothing reads need not be valid.
    @Test(arguments: Version.allCases) func aRedirectWithAnUnknownCodingIsFollowed(version: Version) async throws {
        let response = try MockResponse.coded(content)
        var redirect = MockResponse.redirect(to: "/b")
        redirect.headerFields[.contentEncoding] = "none"
        redirect.body = .text("moved")
        try await withMockClient(version) {
            $0.on("/a", redirect)
            $0.on("/b", response)
        } perform: { session, server in
            let received = try await session.get("/a").response()
            #expect(received.value == content && received.redirects.count == 1)
            // The body of the redirect was read, and its connection used again.
            #expect(Set(server.recordedRequests.map(\.connectionIndex)).count == 1)
            #expect(
                server.recordedRequests.map { $0.headerFields[.acceptEncoding] } == ["gzip, deflate", "gzip, deflate"])
        }
    }

    /// The decoded size of a body does not affect the reuse of its connection.
    @Test func aRedirectWithALongDecodedBodyKeepsItsConnection() async throws {
        let redirect = try MockResponse.coded(Data(count: 1 << 20), [.gzip], [.location: "/b"], status: .found)
        try await withMockClient {
            $0.on("/a", redirect)
            $0.on("/b", .text("b"))
        } perform: { session, server in
            let text = try await session.get("/a").text()
            #expect(text == "b")
            #expect(Set(server.recordedRequests.map(\.connectionIndex)).count == 1)
        }
    }

    @Test func aChallengeWithACodedBodyIsAnswered() async throws {
        let (challenge, response) = (
            try MockResponse.coded(content, [.gzip], [.wwwAuthenticate: #"Basic realm="a""#], status: .unauthorized),
            try MockResponse.coded(content)
        )
        let store = CredentialStore()
        try await withMockClient(configure: { $0.credentialStore = store }) {
            $0.on("/a") { $0.headerFields[.authorization] == nil ? challenge : response }
        } perform: { session, server in
            let error = await sessionError { try await session.get("/a").data() }
            #expect(error?.code == .unacceptableStatus && error?.body == content)
            let received = try await session.get("/a").header(.authorization, "Basic YTpi").response()
            #expect(received.value == content)
        }
    }

    @Test func theBodyOfAnErrorIsDecoded() async throws {
        let problem = try MockResponse.coded(
            Data(#"{"title": "No finch"}"#.utf8), [.gzip], [.contentType: "application/problem+json"], status: .notFound
        )
        try await withMockClient(routes: { $0.on("/a", problem) }) { session, _ in
            let error = await sessionError { try await session.get("/a").data() }
            #expect(error?.code == .unacceptableStatus && error?.problem?.title == "No finch")
        }
    }

    @Test func interceptorsAndHooksSeeDecodedBodies() async throws {
        struct Looking: Interceptor {
            let seen: EventRecorder<String>
            func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
                let response = try await next(request)
                seen.record("\(response.head.headerFields[.contentEncoding] ?? "none") \(response.contentCodings)")
                return response
            }
        }
        let response = try MockResponse.coded(content)
        let (seen, received) = (EventRecorder<String>(), EventRecorder<Int>())
        try await withMockClient(
            configure: {
                $0.interceptors = [Looking(seen: seen)]
                $0.hooks.didReceiveData = { _, data in received.record(data.count) }
            }, routes: { $0.on("/a", response) }
        ) { session, _ in
            let whole = try await session.get("/a").response()
            #expect(whole.value == content && whole.contentCodings == [.gzip])
            _ = try await session.get("/a").interceptor(Looking(seen: seen)).response()
        }
        #expect(seen.events == ["none [gzip]", "none [gzip]", "none [gzip]"])
        #expect(received.events.reduce(0, +) == 2 * content.count)
    }

    // MARK: The cache

    /// RFC 9111: the stored bytes are the sent ones.
    @Test(arguments: Version.allCases) func theCacheStoresCodedBodies(version: Version) async throws {
        let coded = try ContentCoding.gzip.encoded(content)
        let store = MemoryCacheStore(limit: 64 << 20)
        let response = try MockResponse.coded(
            content, [.gzip], [.date: CacheTime.first, .cacheControl: "max-age=60", .vary: "Accept-Encoding"])
        try await withCache(version, store: store, routes: { $0.on("/a", response) }) { cache in
            for outcome in [CacheStatistics.Outcome.miss, .hit, .hit] {
                let received = try await cache.session.get("/a").response()
                #expect(received.value == content && received.cacheOutcome == outcome)
                #expect(received.contentCodings == [.gzip] && received.head.headerFields[.contentEncoding] == nil)
            }
            let key = try #require(CacheKey(cache.server.url("/a")))
            let stored = try #require(try await store.responses(for: key).first)
            #expect(stored.bodySize == Int64(coded.count) && stored.head.headerFields[.contentEncoding] == "gzip")
            // Another variant.
            let own = try await cache.session.get("/a").header(.acceptEncoding, "gzip").response()
            #expect(own.cacheOutcome == .miss && own.value == coded)
            #expect(cache.sent == 2)
        }
    }

    @Test func aStreamedBodyIsStoredAfterItWasDecodedToItsEnd() async throws {
        let response = try MockResponse.coded(
            makeBytes(300_000), [.gzip], [.date: CacheTime.first, .cacheControl: "max-age=60"])
        try await withCache(routes: { $0.on("/a", response) }) { cache in
            for outcome in [CacheStatistics.Outcome.miss, .hit] {
                let received = try await cache.session.get("/a").bytes()
                #expect(try await received.body.collect(upTo: 1 << 20) == makeBytes(300_000))
                #expect(received.cacheOutcome == outcome)
            }
            #expect(cache.sent == 1)
        }
    }

    @Test func aBodyThatIsNotValidIsNotStored() async throws {
        let body = try ContentCoding.gzip.encoded(makeBytes(300_000)).dropFirst(1)
        let response = MockResponse.claiming("gzip", body, [.date: CacheTime.first, .cacheControl: "max-age=60"])
        try await withCache(routes: { $0.on("/a", response) }) { cache in
            let received = try await cache.session.get("/a").bytes()
            #expect(
                await sessionError { try await received.body.collect(upTo: 1 << 20) }?.code == .contentDecodingFailed)
            #expect(await cache.store.statistics().count == 0)
        }
    }
}
