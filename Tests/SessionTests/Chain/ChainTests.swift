import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetCookies
import LinnetReachability
import LinnetSecurity
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Logging
import Synchronization
import Testing

@testable import LinnetSession

@Suite("Chain", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ChainTests {
    private static func equip(
        _ configuration: inout HTTPSession.Configuration, jar: CookieJar, store: MemoryCacheStore
    ) {
        configuration.cookieJar = jar
        configuration.cacheStore = store
        configuration.retryPolicy = RetryPolicy(limit: 2)
        configuration.retryPolicy.backoff.first = .zero
    }

    /// The links of a session with every feature, from top to bottom.
    @Test func theLinksHaveAnOrder() throws {
        var configuration = HTTPSession.Configuration()
        Self.equip(&configuration, jar: CookieJar(), store: MemoryCacheStore())
        configuration.hstsStore = HSTSStore()
        configuration.circuitBreaker = CircuitBreaker()
        configuration.concurrencyLimiter = ConcurrencyLimiter()
        configuration.authenticator = .renewing(RenewableCredential(TokenIssuer(), 1, for: []))
        configuration.requestSigner = RequestSigner(for: []) { _ in }
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        configuration.reachabilityMonitor = try ReachabilityMonitor()
        let chain = Engine(configuration, transport: StubTransport()).chain
        #expect(
            chain.links.map { "\(type(of: $0))" } == [
                "RetryLink", "AdapterLink", "RedirectLink", "HSTSLink", "RenewalLink", "AuthenticationLink",
                "CookieLink",
                "CodingLink",
                "CacheLink", "ConnectivityLink", "ConcurrencyLink", "CircuitLink", "ContinueLink",
                "SigningLink", "LogLink",
            ])
        #expect(chain.links[chain.cacheIndex] is CacheLink)
    }

    /// A link that has no work for a request without a body or additions is not asked.
    @Test func plainRequestsPassFewerLinks() throws {
        struct Adapter: RequestAdapter {
            func adapt(_ request: SessionRequest) -> SessionRequest { request }
        }
        func plainLinks(_ configure: (inout HTTPSession.Configuration) -> Void) -> [String] {
            var configuration = HTTPSession.Configuration()
            configure(&configuration)
            return Engine(configuration, transport: StubTransport()).chain.plainLinks.map { "\(type(of: $0))" }
        }
        #expect(plainLinks { _ in } == ["RetryLink", "RedirectLink", "CodingLink"])
        let authenticated = plainLinks { $0.credentialStore = CredentialStore() }
        #expect(authenticated == ["RetryLink", "RedirectLink", "AuthenticationLink", "CodingLink"])
        // An adapter or an authenticator can add a body, which may be announced.
        let adapted = plainLinks { $0.requestAdapters = [Adapter()] }
        #expect(adapted.contains("AdapterLink") && adapted.contains("ContinueLink"))
        let renewing = plainLinks { $0.authenticator = .renewing(RenewableCredential(TokenIssuer(), 1, for: [])) }
        #expect(renewing.contains("RenewalLink") && renewing.contains("ContinueLink"))
        let plain = try Flight.test()
        #expect(plain.isPlain)
        #expect(try !Flight.test(body: .data(Data([1]))).isPlain)
        #expect(!Flight(plain.request, additions: Boxed(Flight.Additions())).isPlain)
    }

    /// A retry, a redirect, cookies of both, a coding and a cache that stores: each link acts on the response.
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
