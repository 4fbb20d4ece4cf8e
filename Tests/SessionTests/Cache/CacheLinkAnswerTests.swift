import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetCookies
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite("Answers of a session's cache", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CacheLinkAnswerTests {
    @Test(arguments: Surface.allCases)
    func aFreshResponseAnswersWithoutTheNetwork(surface: Surface) async throws {
        try await withCache(routes: {
            $0.counting("/a") { count, _ in
                var response = MockResponse.json("\(count)")
                response.headerFields[.date] = CacheTime.first
                response.headerFields[.cacheControl] = "max-age=60"
                return response
            }
        }) { cache in
            let first = try await surface.send("/a", with: cache.session).get()
            #expect(first.cacheOutcome == .miss && first.metrics.count == 1)
            cache.time.advance(by: 59)
            let second = try await surface.send("/a", with: cache.session).get()
            #expect(second.value == 1 && second.cacheOutcome == .hit && second.metrics.isEmpty)
            #expect(second.head.headerFields[.age] == "59")
            #expect(cache.sent == 1)
            cache.time.advance(by: 2)
            let third = try await surface.send("/a", with: cache.session).get()
            #expect(third.value == 2 && third.cacheOutcome == .miss)
            #expect(cache.sent == 2)
        }
    }

    @Test func aHitOpensNoConnection() async throws {
        let store = MemoryCacheStore()
        try await withCache(store: store, routes: { $0.on("/a", .cached("a", "max-age=60")) }) { cache in
            try await cache.get("/a")
            let time = cache.time
            let other = try HTTPSession(baseURL: cache.server.url) {
                $0.cacheStore = store
                $0.cacheTime = { time.now }
            }
            let response = try await other.get("/a").response(StringResponseSerializer())
            #expect(response.value == "a" && response.cacheOutcome == .hit)
            #expect(cache.server.acceptedConnections == 1)
            await other.shutdown()
        }
    }

    @Test func aSessionWithoutAStoreCachesNothing() async throws {
        try await withMockClient(routes: { $0.on("/a", .cached("a", "max-age=60")) }) { session, server in
            for _ in 0..<2 {
                let response = try await session.get("/a").response(StringResponseSerializer())
                #expect(response.cacheOutcome == nil)
            }
            #expect(server.recordedRequests.count == 2)
        }
    }

    @Test(arguments: Version.allCases)
    func aStaleResponseIsConfirmedWithItsTag(version: Version) async throws {
        try await withCache(
            version,
            routes: {
                $0.on("/a") { request in
                    request.headerFields[.ifNoneMatch] == #""1""#
                        ? .notModified([.eTag: #""1""#, .cacheControl: "max-age=30", .date: CacheTime.first])
                        : .cached("a", "max-age=10", [.eTag: #""1""#])
                }
            }
        ) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 20)
            let confirmed = try await cache.get("/a")
            #expect(confirmed.value == "a" && confirmed.status == .ok && confirmed.cacheOutcome == .revalidated)
            #expect(confirmed.metrics.count == 1)
            // The fields of the 304 response are stored.
            #expect(try await cache.outcome("/a") == .hit)
            #expect(cache.sent == 2)
        }
    }

    @Test func aChangedResponseReplacesTheStaleOne() async throws {
        try await withCache(routes: {
            $0.counting("/a") { count, _ in .cached("\(count)", "max-age=10", [.eTag: "\"\(count)\""]) }
        }) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 20)
            let changed = try await cache.get("/a")
            #expect(changed.value == "2" && changed.cacheOutcome == .miss)
            #expect(await cache.store.statistics().count == 1)
        }
    }

    @Test func aResponseWithoutATagIsConfirmedByItsDate() async throws {
        let modified = "Mon, 13 Nov 2023 22:13:20 GMT"
        try await withCache(routes: {
            $0.on("/a") { request in
                request.headerFields[.ifModifiedSince] == modified
                    ? .notModified() : .cached("a", "max-age=0", [.lastModified: modified])
            }
        }) { cache in
            try await cache.get("/a")
            #expect(try await cache.outcome("/a") == .revalidated)
        }
    }

    @Test func a304ThatConfirmsNothingStoredIsAskedAgain() async throws {
        try await withCache(routes: {
            $0.counting("/a") { count, request in
                request.headerFields.contains(.ifNoneMatch)
                    ? .notModified([.eTag: #""other""#]) : .cached("\(count)", "no-cache", [.eTag: #""1""#])
            }
        }) { cache in
            try await cache.get("/a")
            let again = try await cache.get("/a")
            #expect(again.value == "3" && again.cacheOutcome == .miss && again.metrics.count == 2)
        }
    }

    /// A 304 response for the stored one. Its fields may forbid to store it any longer.
    @Test(
        arguments: [
            [.cacheControl: "no-store"], [.vary: "*"], [.cacheControl: "max-age=60, no-store", .eTag: #""1""#],
        ] as [HTTPFields])
    func a304ThatForbidsStoringAnswersAndRemovesTheResponse(fields: HTTPFields) async throws {
        try await withCache(routes: {
            $0.counting("/a") { count, request in
                request.headerFields[.ifNoneMatch] == #""1""#
                    ? .notModified(fields) : .cached("\(count)", "max-age=10", [.eTag: #""1""#])
            }
        }) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 20)
            let confirmed = try await cache.get("/a")
            #expect(confirmed.value == "1" && confirmed.cacheOutcome == .revalidated)
            #expect(await cache.store.statistics().count == 0)
            let next = try await cache.get("/a")
            #expect(next.value == "3" && next.cacheOutcome == .miss)
        }
    }

    @Test func theCallersOwnConditionIsAnswered() async throws {
        try await withCache(routes: { $0.on("/a", .cached("a", "max-age=60", [.eTag: #""1""#])) }) { cache in
            try await cache.get("/a")
            let response = try await cache.session.get("/a").headers([.ifNoneMatch: #""1""#]).bytes(
                validation: .none)
            #expect(response.status == .notModified && response.cacheOutcome == .hit)
            #expect(cache.sent == 1)
        }
    }

    @Test func variantsAreKeptApart() async throws {
        try await withCache(routes: {
            $0.on("/a") { request in
                .cached(request.headerFields[.acceptLanguage] ?? "", "max-age=60", [.vary: "Accept-Language"])
            }
        }) { cache in
            for language in ["de", "en"] { try await cache.get("/a", [.acceptLanguage: language]) }
            for language in ["de", "en"] {
                let response = try await cache.get("/a", [.acceptLanguage: language])
                #expect(response.value == language && response.cacheOutcome == .hit)
            }
            #expect(cache.sent == 2)
        }
    }

    @Test func aStoredResponseAnswersHeadAndIsUpdatedByIt() async throws {
        try await withCache(routes: {
            $0.on(.head, "/a") { _ in
                var response = MockResponse.status(.ok)
                response.headerFields = [.eTag: #""2""#, .date: CacheTime.first]
                return response
            }
            $0.on(.get, "/a", .cached("a", "max-age=10", [.eTag: #""1""#]))
        }) { cache in
            try await cache.get("/a")
            let head = try await cache.session.head("/a").bytes()
            #expect(head.cacheOutcome == .hit && head.head.headerFields[.contentLength] == "1")
            #expect(try await head.body.collect(upTo: 1).isEmpty)
            cache.time.advance(by: 20)
            #expect(try await cache.session.head("/a").bytes().cacheOutcome == .miss)
            // The HEAD response has another tag: the stored one is outdated.
            #expect(await cache.store.statistics().count == 0)
        }
    }

    @Test func aRangeComesFromTheStoredWhole() async throws {
        try await withCache(routes: { $0.on("/a", .cached("0123456789", "max-age=60", [.eTag: #""1""#])) }) { cache in
            try await cache.get("/a")
            let part = try await cache.get("/a", [.range: "bytes=2-4"])
            #expect(part.value == "234" && part.status == .partialContent && part.cacheOutcome == .hit)
            #expect(part.head.headerFields[.contentRange] == "bytes 2-4/10")
            #expect(cache.sent == 1)
        }
    }

    @Test func adjacentPartsBecomeTheWhole() async throws {
        try await withCache(routes: {
            $0.on("/a") { request in
                let isFirst = request.headerFields[.range] == "bytes=0-4"
                return .cached(
                    isFirst ? "01234" : "56789", "max-age=60",
                    [.eTag: #""1""#, .contentRange: isFirst ? "bytes 0-4/10" : "bytes 5-9/10"],
                    status: .partialContent)
            }
        }) { cache in
            #expect(try await cache.get("/a", [.range: "bytes=5-9"]).value == "56789")
            #expect(try await cache.get("/a", [.range: "bytes=0-4"]).value == "01234")
            let whole = try await cache.get("/a")
            #expect(whole.value == "0123456789" && whole.status == .ok && whole.cacheOutcome == .hit)
            #expect(cache.sent == 2)
        }
    }

    /// The second part is combined with the stored one while it is read.
    @Test(arguments: [true, false]) func aStreamedPartIsCombined(isFirst: Bool) async throws {
        let (kept, streamed) = isFirst ? ("bytes=5-9", "bytes=0-4") : ("bytes=0-4", "bytes=5-9")
        try await withCache(routes: {
            $0.on("/a") { request in
                let isFirst = request.headerFields[.range] == "bytes=0-4"
                var response = MockResponse.cached(
                    "", "max-age=60",
                    [.eTag: #""1""#, .contentRange: isFirst ? "bytes 0-4/10" : "bytes 5-9/10"], status: .partialContent)
                response.body = .chunks((isFirst ? ["01", "234"] : ["567", "89"]).map { Data($0.utf8) })
                return response
            }
        }) { cache in
            try await cache.get("/a", [.range: kept])
            let response = try await cache.session.get("/a").headers([.range: streamed]).bytes()
            #expect(response.cacheOutcome == .miss)
            #expect(try await response.body.collect(upTo: 100) == Data((isFirst ? "01234" : "56789").utf8))
            let whole = try await cache.get("/a")
            #expect(whole.value == "0123456789" && whole.status == .ok && whole.cacheOutcome == .hit)
            #expect(await cache.store.statistics().count == 1)
        }
    }

    /// Otherwise each of many small parts would copy all that are stored. The stored part stays, with the fields of the
    /// new one.
    @Test func aSmallPartIsNotCombinedWithALargeOne() async throws {
        try await withCache(routes: {
            $0.on("/a") { request in
                let range = request.headerFields[.range]?.dropFirst("bytes=".count) ?? ""
                return .cached(
                    "x", "max-age=60", [.eTag: #""1""#, .contentRange: "bytes \(range)/100", .server: String(range)],
                    status: .partialContent)
            }
        }) { cache in
            for index in 0..<18 { try await cache.get("/a", [.range: "bytes=\(index)-\(index)"]) }
            let key = try #require(CacheKey(cache.server.url("/a")))
            let stored = try await cache.store.responses(for: key)
            #expect(stored.map { $0.part?.range.upperBound } == [17])
            #expect(stored.map { $0.head.headerFields[.server] } == ["17-17"])
            let part = try await cache.get("/a", [.range: "bytes=0-16"])
            #expect(part.value == String(repeating: "x", count: 17) && part.cacheOutcome == .hit)
            #expect(cache.sent == 18)
        }
    }

    /// The stored part stays, whether the reader leaves the stream or the connection is lost.
    @Test(arguments: [true, false]) func aStreamedPartThatIsCutShortChangesNothing(isLost: Bool) async throws {
        try await withCache(routes: {
            $0.on("/a") { request in
                let isFirst = request.headerFields[.range] == "bytes=0-4"
                let response = MockResponse.cached(
                    isFirst ? "01234" : "56789", "max-age=60",
                    [.eTag: #""1""#, .contentRange: isFirst ? "bytes 0-4/10" : "bytes 5-9/10"],
                    status: .partialContent)
                return isFirst || !isLost
                    ? response : response.with(MockServer.Fault(.close, at: .responseBody(after: 2)))
            }
        }) { cache in
            try await cache.get("/a", [.range: "bytes=0-4"])
            let second = try await cache.session.get("/a").headers([.range: "bytes=5-9"]).bytes()
            if isLost { await #expect(throws: SessionError.self) { try await second.body.collect(upTo: 100) } }
            let first = try await cache.get("/a", [.range: "bytes=0-4"])
            #expect(first.value == "01234" && first.cacheOutcome == .hit)
            #expect(await cache.store.statistics().count == 1)
        }
    }

    @Test(arguments: [503, 500, 404])
    func aStaleResponseStandsInForAFailure(status: Int) async throws {
        try await withCache(routes: {
            $0.counting("/a") { count, _ in
                count == 1
                    ? .cached("a", "max-age=1, stale-if-error=60")
                    : .text("failed", status: HTTPResponse.Status(code: status))
            }
        }) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 30)
            let response = try await cache.session.get("/a").bytes(validation: .none)
            #expect(response.status.code == (status == 404 ? 404 : 200))
            #expect(response.cacheOutcome == (status == 404 ? .miss : .stale))
            #expect(response.metrics.count == 1)
        }
    }

    @Test func aStaleResponseStandsInForALostConnection() async throws {
        try await withCache(routes: {
            $0.counting("/a") { count, _ in
                let response = MockResponse.cached("a", "max-age=1, stale-if-error=60", [.eTag: #""1""#])
                return count == 1 ? response : response.with(MockServer.Fault(.close, at: .responseHead))
            }
        }) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 30)
            let response = try await cache.get("/a")
            #expect(response.value == "a" && response.cacheOutcome == .stale && !response.metrics.isEmpty)
            cache.time.advance(by: 60)
            let error = await Result { () async throws(SessionError) in try await cache.session.get("/a").response() }
                .error
            #expect(error?.code == .connectionLost)
        }
    }

    @Test func aStaleResponseIsRefreshedInTheBackground() async throws {
        try await withCache(routes: {
            $0.counting("/a") { count, request in
                count == 1
                    ? .cached("1", "max-age=1, stale-while-revalidate=60", [.eTag: #""1""#])
                    : .cached("\(count)", "max-age=600", [.eTag: "\"\(count)\""])
            }
        }) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 30)
            let stale = try await cache.get("/a")
            #expect(stale.value == "1" && stale.cacheOutcome == .stale && stale.metrics.isEmpty)
            // The session ends after its refresh has.
            await cache.session.shutdown()
            #expect(cache.sent == 2)
            #expect(cache.server.recordedRequests.last?.headerFields[.ifNoneMatch] == #""1""#)
            let key = try #require(CacheKey(cache.server.url("/a")))
            let stored = try await cache.store.responses(for: key)
            #expect(stored.map { $0.head.headerFields[.eTag] } == [#""2""#])
            let statistics = await cache.store.statistics()
            #expect(statistics.misses == 1 && statistics.staleHits == 1)
        }
    }

    @Test(arguments: [true, false]) func aRefreshStoresItsCookies(usesCookies: Bool) async throws {
        let jar = CookieJar()
        try await withCache(configure: { $0.cookieJar = jar }) {
            $0.counting("/a") { count, _ in
                count == 1
                    ? .cached("1", "max-age=1, stale-while-revalidate=60", [.eTag: #""1""#])
                    : .notModified([.eTag: #""1""#, .setCookie: "fresh=1"])
            }
        } perform: { cache in
            try await cache.get("/a")
            cache.time.advance(by: 30)
            let call = cache.session.get("/a").options { $0.usesCookies = usesCookies }
            #expect(try await call.response(StringResponseSerializer()).cacheOutcome == .stale)
            await cache.session.shutdown()
            #expect(cache.sent == 2)
            #expect(jar.all.map(\.name) == (usesCookies ? ["fresh"] : []))
        }
    }

    /// RFC 9111, sections 3, 3.5 and 5.2.2.10.
    @Test(arguments: [
        ("private, max-age=60", true, false), ("private, max-age=60", false, true),
        ("max-age=0, s-maxage=60", true, true), ("max-age=0, s-maxage=60", false, false),
    ])
    func aSharedCacheIsAnOption(control: String, isShared: Bool, isHit: Bool) async throws {
        try await withCache(configure: { $0.isCacheShared = isShared }) {
            $0.on("/a", .cached("a", control))
        } perform: { cache in
            try await cache.get("/a")
            #expect(try await cache.outcome("/a") == (isHit ? .hit : .miss))
        }
    }

    @Test func oneRefreshRunsForAURL() async throws {
        let answer = Signal()
        let arrived = Signal()
        try await withCache(routes: {
            let count = CallCount()
            $0.on("/a") { _ in
                guard count.next() > 1 else { return .cached("1", "max-age=1, stale-while-revalidate=60") }
                arrived.fire()
                await answer.wait()
                return .cached("2", "max-age=600")
            }
        }) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 30)
            for _ in 0..<5 { #expect(try await cache.outcome("/a") == .stale) }
            await arrived.wait()
            #expect(try await cache.outcome("/a") == .stale)
            answer.fire()
            await cache.session.shutdown()
            #expect(cache.sent == 2)
        }
    }

    @Test func anImmediateShutdownCancelsARefresh() async throws {
        let arrived = Signal()
        let never = Signal()
        try await withCache(routes: {
            let count = CallCount()
            $0.on("/a") { _ in
                guard count.next() > 1 else { return .cached("1", "max-age=1, stale-while-revalidate=60") }
                arrived.fire()
                await never.wait()
                return .cached("2", "max-age=600")
            }
        }) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 30)
            try await cache.get("/a")
            await arrived.wait()
            await cache.session.shutdown(.immediate)
            #expect(await cache.store.statistics().count == 1)
        }
    }
}
