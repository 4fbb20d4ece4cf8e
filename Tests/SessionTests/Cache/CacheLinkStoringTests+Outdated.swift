import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetTesting
import LinnetTransport
import Testing

@testable import LinnetSession

// When a stored response that a newer one has proved outdated is removed.
extension CacheLinkStoringTests {
    /// The reader has seen the head of a newer one.
    @Test(arguments: [true, false])
    func aReaderThatLeavesABodyLeavesNoOutdatedResponse(readsAPiece: Bool) async throws {
        let long = long
        try await withCache(routes: {
            $0.counting("/a") { number, _ in .cached(number == 1 ? "1" : long, "max-age=60") }
        }) { cache in
            try await cache.get("/a")
            do {
                let reload = cache.session.get("/a").options { $0.cachePolicy = .reloadIgnoringCache }
                let response = try await reload.bytes()
                #expect(response.cacheOutcome == .miss)
                if readsAPiece {
                    for try await _ in response.body { break }
                }
            }
            #expect(await count(cache) == 0)
            #expect(try await cache.outcome("/a") == .miss)
        }
    }

    /// A refresh has no reader who would know of the new one before.
    @Test func aStaleResponseAnswersUntilItsRefreshIsStored() async throws {
        let (store, time, body) = (MemoryCacheStore(limit: 64 << 20), CacheTime(), StubTransport.Body())
        let count = CallCount()
        let session = try HTTPSession(
            baseURL: URL(string: "http://example.com"),
            configuration: HTTPSession.Configuration.make {
                $0.cacheStore = store
                $0.cacheTime = { time.now }
            },
            transport: StubTransport { _ in
                guard count.next() > 1 else {
                    let fields: HTTPFields = [.cacheControl: "max-age=1, stale-while-revalidate=60"]
                    return .status(.ok, headerFields: fields, body: Data("1".utf8))
                }
                return .stream(body, headerFields: [.cacheControl: "max-age=600", .contentLength: "1048576"])
            })
        _ = try await session.get("a").text()
        // Before the refresh can read, so that the next demand is its own.
        #expect(!body.send(Data(count: 1 << 20)))
        time.advance(by: 30)
        #expect(try await session.get("a").bytes().cacheOutcome == .stale)
        await body.waitForDemand()
        #expect(try await session.get("a").bytes().cacheOutcome == .stale)
        body.finish()
        await session.shutdown()
        let key = try #require(URL(string: "http://example.com/a").flatMap { CacheKey($0) })
        #expect(try await store.responses(for: key).map(\.bodySize) == [1 << 20])
    }
}
