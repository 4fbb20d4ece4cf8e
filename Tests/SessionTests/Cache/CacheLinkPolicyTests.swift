import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

/// The rows of NSURLRequest's cache policies, with a store that has a fresh response, a stale one, or none.
@Suite("Cache policies of requests", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CacheLinkPolicyTests {
    enum Stored: CaseIterable, Sendable {
        case none, fresh, stale
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let policy: RequestOptions.CachePolicy
        /// The outcomes for no stored response, a fresh one and a stale one; nil if the request fails.
        let outcomes: [CacheStatistics.Outcome?]

        var testDescription: String { "\(policy)" }
    }

    static let rows = [
        Row(policy: .protocolDefined, outcomes: [.miss, .hit, .revalidated]),
        Row(policy: .reloadIgnoringCache, outcomes: [.miss, .miss, .miss]),
        Row(policy: .reloadIgnoringAllCaches, outcomes: [.miss, .miss, .miss]),
        Row(policy: .revalidate, outcomes: [.miss, .revalidated, .revalidated]),
        Row(policy: .cacheElseLoad, outcomes: [.miss, .hit, .stale]),
        Row(policy: .cacheOnly, outcomes: [nil, .hit, .stale]),
    ]

    @Test(arguments: rows, Surface.allCases)
    func eachPolicyDoesWhatItsNameSays(row: Row, surface: Surface) async throws {
        for (stored, expected) in zip(Stored.allCases, row.outcomes) {
            try await withCache(routes: {
                $0.on("/a") { request in
                    guard request.headerFields[.ifNoneMatch] == nil else { return .notModified([.eTag: #""1""#]) }
                    var response = MockResponse.json("1")
                    response.headerFields[.date] = CacheTime.first
                    response.headerFields[.cacheControl] = "max-age=60"
                    response.headerFields[.eTag] = #""1""#
                    return response
                }
            }) { cache in
                if stored != .none { _ = try await surface.send("/a", with: cache.session).get() }
                if stored == .stale { cache.time.advance(by: 100) }
                var options = RequestOptions()
                options.cachePolicy = row.policy
                let sent = cache.sent
                let result = await surface.send("/a", options: options, with: cache.session)
                #expect(result.success?.cacheOutcome == expected, "\(stored)")
                #expect(result.error?.code == (expected == nil ? .notCached : nil), "\(stored)")
                let isSent = expected == .miss || expected == .revalidated
                #expect(cache.sent - sent == (isSent ? 1 : 0), "\(stored)")
            }
        }
    }

    @Test func someReloadsTellTheCachesOnTheWay() async throws {
        try await withCache(routes: { $0.on("/a", .cached("a", "max-age=60")) }) { cache in
            for policy in [RequestOptions.CachePolicy.reloadIgnoringCache, .reloadIgnoringAllCaches, .revalidate] {
                try await cache.get("/a", policy: policy)
            }
            let fields = cache.server.recordedRequests.map { $0.headerFields[.cacheControl] }
            #expect(fields == [nil, "no-cache", "max-age=0"])
        }
    }

    /// Also if the request is sent again because the server confirms a response that is not stored.
    @Test func aRepeatedRevalidationTellsTheCachesOnTheWay() async throws {
        try await withCache(routes: {
            $0.on("/a") { request in
                guard request.headerFields[.ifNoneMatch] == nil else { return .notModified([.eTag: #""other""#]) }
                var response = MockResponse.json("1")
                response.headerFields[.cacheControl] = "max-age=60"
                response.headerFields[.eTag] = #""1""#
                return response
            }
        }) { cache in
            try await cache.get("/a")
            try await cache.get("/a", policy: .revalidate)
            let requests = cache.server.recordedRequests.map(\.headerFields)
            #expect(requests.map { $0[.ifNoneMatch] } == [nil, #""1""#, nil])
            #expect(requests.map { $0[.cacheControl] } == [nil, "max-age=0", "max-age=0"])
        }
    }

    @Test func aReloadReplacesTheStoredResponse() async throws {
        try await withCache(routes: { $0.counting("/a") { count, _ in .cached("\(count)", "max-age=60") } }) { cache in
            try await cache.get("/a")
            #expect(try await cache.get("/a", policy: .reloadIgnoringCache).value == "2")
            let response = try await cache.get("/a")
            #expect(response.value == "2" && response.cacheOutcome == .hit)
        }
    }

    @Test func anUnsafeMethodIsNotAnsweredFromTheCache() async throws {
        try await withCache(routes: { $0.on("/a", .cached("a", "max-age=60")) }) { cache in
            try await cache.get("/a")
            let error = await Result { () async throws(SessionError) in
                try await cache.session.post("/a").options { $0.cachePolicy = .cacheOnly }.response()
            }.error
            #expect(error?.code == .notCached && cache.sent == 1)
        }
    }

    @Test func onlyIfCachedIsARequestForAStoredResponse() async throws {
        try await withCache(routes: { $0.on("/a", .cached("a", "max-age=60")) }) { cache in
            let fields: HTTPFields = [.cacheControl: "only-if-cached"]
            let error = await Result { () async throws(SessionError) in
                try await cache.session.get("/a").headers(fields).response()
            }.error
            #expect(error?.code == .notCached && error?.url?.path() == "/a")
            try await cache.get("/a")
            #expect(try await cache.outcome("/a", fields) == .hit)
            #expect(cache.sent == 1)
        }
    }

    @Test(arguments: [
        ("no-cache", CacheStatistics.Outcome.miss), ("max-age=5", .miss), ("max-age=60", .hit), ("max-stale", .hit),
    ])
    func theRequestsOwnDirectivesCount(directive: String, expected: CacheStatistics.Outcome) async throws {
        try await withCache(routes: { $0.on("/a", .cached("a", "max-age=60")) }) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 10)
            #expect(try await cache.outcome("/a", [.cacheControl: directive]) == expected)
        }
    }

    @Test func anExpensiveNetworkIsNotNeededForAHit() async throws {
        try await withCache(routes: { $0.on("/a", .cached("a", "max-age=60")) }) { cache in
            try await cache.get("/a")
            let call = cache.session.get("/a").options { $0.allowsExpensiveNetworks = false }
            #expect(try await call.response(StringResponseSerializer()).cacheOutcome == .hit)
        }
    }
}
