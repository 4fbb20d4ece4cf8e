import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetCookies
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

/// The cache among the other links: redirects, credentials, cookies, retries and hooks.
@Suite("The cache in the chain", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CacheLinkChainTests {
    @Test func eachHopOfARedirectIsStored() async throws {
        try await withCache(routes: {
            var redirect = MockResponse.redirect(to: "/b", status: .movedPermanently)
            redirect.headerFields[.cacheControl] = "max-age=60"
            redirect.headerFields[.date] = CacheTime.first
            $0.on("/a", redirect)
            $0.on("/b", .cached("b", "max-age=60"))
        }) { cache in
            try await cache.get("/a")
            let response = try await cache.get("/a")
            #expect(response.value == "b" && response.cacheOutcome == .hit && response.redirects.count == 1)
            #expect(response.url.path() == "/b" && response.metrics.isEmpty)
            #expect(cache.sent == 2)
        }
    }

    @Test func aStoredChallengeIsNotTheAnswerToCredentials() async throws {
        let store = CredentialStore()
        try await withCache(
            configure: { $0.credentialStore = store },
            routes: {
                $0.on("/a") { request in
                    request.headerFields.contains(.authorization)
                        ? .cached("open", "max-age=60")
                        : .cached(
                            "closed", "max-age=60", [.wwwAuthenticate: #"Basic realm="lab""#], status: .unauthorized)
                }
            }
        ) { cache in
            let url = try cache.server.url("/a")
            try store.set(.basic(username: "ada", password: "pass"), for: ProtectionSpace(origin: Origin(url)))
            #expect(try await cache.get("/a").value == "open")
            #expect(cache.sent == 2)
            let hit = try await cache.get("/a")
            #expect(hit.value == "open" && hit.cacheOutcome == .hit)
            #expect(cache.sent == 2)
        }
    }

    @Test func aHitSetsNoCookies() async throws {
        let jar = CookieJar()
        try await withCache(
            configure: { $0.cookieJar = jar },
            routes: {
                $0.on("/a", .cached("a", "max-age=60", [.setCookie: "id=1"]))
                $0.on("/login", .text("in").settingCookies("id=2"))
            }
        ) { cache in
            try await cache.get("/a")
            #expect(jar.all.map(\.value) == ["1"])
            try await cache.get("/login")
            let hit = try await cache.get("/a")
            #expect(hit.cacheOutcome == .hit && !hit.head.headerFields.contains(.setCookie))
            #expect(jar.all.map(\.value) == ["2"])
        }
    }

    @Test func theConfirmingResponseSetsItsCookies() async throws {
        let jar = CookieJar()
        try await withCache(
            configure: { $0.cookieJar = jar },
            routes: {
                $0.on("/a") { request in
                    request.headerFields.contains(.ifNoneMatch)
                        ? .notModified([.eTag: #""1""#, .setCookie: "id=2"])
                        : .cached("a", "no-cache", [.eTag: #""1""#, .setCookie: "id=1"])
                }
            }
        ) { cache in
            try await cache.get("/a")
            #expect(try await cache.outcome("/a") == .revalidated)
            #expect(jar.all.map(\.value) == ["2"])
        }
    }

    @Test func aCookieSelectsTheVariant() async throws {
        let jar = CookieJar()
        try await withCache(
            configure: { $0.cookieJar = jar },
            routes: {
                $0.on("/a") { .cached($0.headerFields[.cookie] ?? "none", "max-age=60", [.vary: "Cookie"]) }
                $0.on("/login", .text("in").settingCookies("id=2"))
            }
        ) { cache in
            try await cache.get("/a")
            try await cache.get("/login")
            let response = try await cache.get("/a")
            #expect(response.value == "id=2" && response.cacheOutcome == .miss)
        }
    }

    @Test func anInterceptorSeesAHit() async throws {
        struct Noting: Interceptor {
            let outcomes: EventRecorder<CacheStatistics.Outcome?>
            func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
                let response = try await next(request)
                outcomes.record(response.cacheOutcome)
                return response
            }
        }
        let outcomes = EventRecorder<CacheStatistics.Outcome?>()
        try await withCache(
            configure: { $0.interceptors = [Noting(outcomes: outcomes)] },
            routes: { $0.on("/a", .cached("a", "max-age=60")) }
        ) { cache in
            try await cache.get("/a")
            try await cache.get("/a")
            #expect(outcomes.events == [.miss, .hit])
        }
    }

    @Test func aCallsInterceptorIsNotCalledForTheRefresh() async throws {
        struct Counting: Interceptor {
            let calls: EventRecorder<URL>
            func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
                calls.record(request.url)
                return try await next(request)
            }
        }
        let calls = EventRecorder<URL>()
        try await withCache(routes: {
            $0.on("/a", .cached("1", "max-age=1, stale-while-revalidate=60"))
        }) { cache in
            try await cache.get("/a")
            cache.time.advance(by: 30)
            let call = cache.session.get("/a").interceptor(Counting(calls: calls))
            #expect(try await call.response(StringResponseSerializer()).cacheOutcome == .stale)
            await cache.session.shutdown()
            #expect(calls.events.count == 1)
            #expect(cache.sent == 2)
        }
    }

    @Test(arguments: Surface.allCases)
    func aHookRefusesToStore(surface: Surface) async throws {
        let asked = EventRecorder<Int>()
        try await withCache(
            configure: {
                $0.hooks.willCacheResponse = { context, head in
                    asked.record(head.status.code)
                    return context.request.url.path() != "/a" ? .store : .doNotStore
                }
            },
            routes: {
                for path in ["/a", "/b"] {
                    var response = MockResponse.json("1")
                    response.headerFields[.cacheControl] = "max-age=60"
                    $0.on(path, response)
                }
                $0.on("/no-store", .json("1"))
            }
        ) { cache in
            var outcomes: [CacheStatistics.Outcome?] = []
            for path in ["/a", "/a", "/b", "/b"] {
                outcomes.append(try await surface.send(path, with: cache.session).get().cacheOutcome)
            }
            #expect(outcomes == [.miss, .miss, .miss, .hit])
            #expect(asked.events == [200, 200, 200])
        }
    }

    /// The caller gets the original response, the next caller the stored one.
    @Test(arguments: Surface.allCases)
    func aHookChangesTheStoredResponse(surface: Surface) async throws {
        try await withCache(
            configure: {
                $0.hooks.willCacheResponse = { context, head in
                    var changed = head
                    changed.headerFields[.cacheControl] = "max-age=60"
                    changed.headerFields[.server] = nil
                    switch context.request.url.path() {
                    case "/head": return .storeAs(changed)
                    case "/body": return .storeAs(changed, body: Data("[2, 3]".utf8))
                    default:
                        changed.headerFields[.cacheControl] = "no-store"
                        return .storeAs(changed)
                    }
                }
            },
            routes: {
                for path in ["/head", "/body", "/never"] {
                    var response = MockResponse.json("1")
                    response.headerFields[.cacheControl] = "max-age=0"
                    response.headerFields[.server] = "mock"
                    response.headerFields[.eTag] = "\"1\""
                    $0.on(path, response)
                }
            }
        ) { cache in
            for (path, second, isStored) in [("/head", 1, true), ("/body", [2, 3], true), ("/never", 1, false)]
                as [(String, JSONValue, Bool)]
            {
                let first = try await surface.send(path, with: cache.session).get()
                #expect(first.value == 1)
                #expect(first.head.headerFields[.server] == "mock")
                let next = try await surface.send(path, with: cache.session).get()
                #expect(next.value == second)
                #expect(next.cacheOutcome == (isStored ? .hit : .miss))
                #expect(next.head.headerFields[.server] == (isStored ? nil : "mock"))
            }
        }
    }

    @Test func aHookThatThrowsFailsItsRequest() async throws {
        struct Refusal: Error {}
        try await withCache(
            configure: { $0.hooks.willCacheResponse = { _, _ in throw Refusal() } },
            routes: { $0.on("/a", .cached("a", "max-age=60")) }
        ) { cache in
            let error = await Result { () async throws(SessionError) in try await cache.session.get("/a").response() }
                .error
            #expect(error?.code == .hookFailed)
            #expect(await cache.store.statistics().count == 0)
        }
    }

    @Test func aHandleReportsAHitLikeAnyResponse() async throws {
        try await withCache(routes: { $0.on("/a", .cached("0123456789", "max-age=60")) }) { cache in
            try await cache.get("/a")
            let task = cache.session.get("/a").task(StringResponseSerializer())
            task.resume()
            #expect(try await task.value.cacheOutcome == .hit)
            #expect(task.progress.download.completed == 10)
        }
    }

    @Test func sessionsShareAStore() async throws {
        let store = MemoryCacheStore()
        try await withCache(store: store, routes: { $0.on("/a", .cached("a", "max-age=60")) }) { cache in
            try await cache.get("/a")
            let other = try HTTPSession(baseURL: cache.server.url, sharing: cache.session)
            #expect(try await other.get("/a").response(StringResponseSerializer()).cacheOutcome == .hit)
        }
    }
}
