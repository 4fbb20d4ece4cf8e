import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct HSTSTests {
    private static let host = "hsts.example"

    /// A server over TLS that sends the field, and a session whose policy trusts it.
    private static func withServer(
        store: HSTSStore, configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        policy: ((TestPKI) throws -> SecurityPolicy)? = nil, names: [String] = [host, "www." + host],
        routes: (inout MockServer.Routes) -> Void,
        perform: (HTTPSession, MockServer) async throws -> Void
    ) async throws {
        let pki = try TestPKI()
        let identity = try pki.identity { $0.hosts = names }
        let trusting = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        try await withMockServer(routes: MockServer.Routes(routes), tls: identity) { server in
            let session = try HTTPSession {
                $0.securityPolicy = try policy?(pki) ?? trusting
                $0.hstsStore = store
                $0.resolution.hostOverrides = [host: ["127.0.0.1"], "www." + host: ["127.0.0.1"]]
                configure(&$0)
            }
            do {
                try await perform(session, server)
                await session.shutdown()
            } catch {
                await session.shutdown(.immediate)
                throw error
            }
        }
    }

    private static func url(_ scheme: String, _ server: MockServer, _ path: String = "/", host: String = host) throws
        -> URL
    {
        try #require(URL(string: "\(scheme)://\(host):\(server.port)\(path)"))
    }

    private static func response(_ field: String = "max-age=1000; includeSubDomains") -> MockResponse {
        var response = MockResponse.text("here")
        response.headerFields[.strictTransportSecurity] = field
        return response
    }

    @Test func aHostThatSendsTheFieldIsRequestedOverHTTPS() async throws {
        let store = HSTSStore()
        try await Self.withServer(store: store) {
            $0.on("/*") { _ in Self.response() }
        } perform: { session, server in
            let plain = try Self.url("http", server, "/a")
            await #expect(throws: SessionError.self) { try await session.call(SessionRequest(url: plain)).response() }
            #expect(store.hosts.isEmpty)
            _ = try await session.call(SessionRequest(url: Self.url("https", server))).response()
            #expect(store.hosts.map(\.name) == [Self.host])
            let response = try await session.call(SessionRequest(url: plain)).response()
            #expect(response.url == (try Self.url("https", server, "/a")))
            let below = try Self.url("http", server, "/b", host: "www." + Self.host)
            #expect(try await session.call(SessionRequest(url: below)).response().url.scheme == "https")
            #expect(server.recordedRequests.count == 3)
        }
    }

    /// RFC 6797, section 8.1: only a connection without errors counts. Pins identify the key, but not the host.
    @Test(arguments: [true, false], [true, false])
    func aConnectionWhoseNameWasNotValidatedMakesNoKnownHost(isPinned: Bool, validatesHost: Bool) async throws {
        let store = HSTSStore()
        try await Self.withServer(
            store: store,
            policy: { pki in
                let anchors = try TrustAnchors.certificates([pki.root])
                let pins = [pki.root.publicKeyPin]
                return .everyHost(
                    isPinned
                        ? try .pins(pins, anchors: anchors, validatesHost: validatesHost)
                        : .systemTrust(anchors: anchors, validatesHost: validatesHost))
            }, names: validatesHost ? [Self.host] : ["other.example"]
        ) {
            $0.on("/*") { _ in Self.response() }
        } perform: { session, server in
            _ = try await session.call(SessionRequest(url: Self.url("https", server))).response()
        }
        #expect(store.hosts.isEmpty == !validatesHost)
    }

    /// The name is validated together with a chain without a matching name.
    @Test func aNameThatAnotherEvaluatorValidatesCounts() async throws {
        let store = HSTSStore()
        try await Self.withServer(
            store: store,
            policy: { pki in
                let own = StandardTrustEvaluator.systemTrust(
                    anchors: try .certificates([pki.root]), validatesHost: false)
                return .everyHost(.allOf(own, .hostname))
            }
        ) {
            $0.on("/*") { _ in Self.response() }
        } perform: { session, server in
            _ = try await session.call(SessionRequest(url: Self.url("https", server))).response()
        }
        #expect(store.hosts.map(\.name) == [Self.host])
    }

    @Test func aRedirectToHTTPOfAKnownHostIsNoDowngrade() async throws {
        let store = HSTSStore()
        try await Self.withServer(store: store) {
            $0.on("/start") { request in
                var response = MockResponse.redirect(to: "http://\(request.authority ?? "")/end")
                response.headerFields[.strictTransportSecurity] = "max-age=1000"
                return response
            }
            $0.on("/end") { request in
                .text(request.headerFields[.authorization] ?? "none")
            }
        } perform: { session, server in
            // The redirect's own field is known by then, and its origin is the same.
            let start = SessionRequest(
                url: try Self.url("https", server, "/start"), headerFields: [.authorization: "Own"])
            for request in [
                start, SessionRequest(url: try Self.url("http", server, "/start"), headerFields: start.headerFields),
            ] {
                let response = try await session.call(request).response(StringResponseSerializer())
                #expect(response.value == "Own")
                #expect(response.url == (try Self.url("https", server, "/end")))
                #expect(response.redirects.map(\.target) == [try Self.url("https", server, "/end")])
            }
        }
    }

    @Test func aRedirectToHTTPOfAnUnknownHostStaysRefused() async throws {
        let store = HSTSStore()
        try await Self.withServer(store: store) {
            $0.on("/*") { request in
                var response = MockResponse.redirect(to: "http://other.example/")
                response.headerFields[.strictTransportSecurity] = "max-age=1000"
                return response
            }
        } perform: { session, server in
            for scheme in ["https", "http"] {
                let error = await #expect(throws: SessionError.self) {
                    try await session.call(SessionRequest(url: Self.url(scheme, server))).response()
                }
                #expect(error?.code == .redirectRefused)
            }
            #expect(server.recordedRequests.count == 2)
        }
    }

    @Test func theTargetOfAHookIsUpgraded() async throws {
        let store = HSTSStore()
        store.add([HSTSStore.Host(name: Self.host, includesSubdomains: false, expires: .distantFuture)])
        try await Self.withServer(store: store) {
            $0.hooks.willRedirect = { _, _, proposal in
                var changed = proposal
                changed.url = try #require(URL(string: changed.url.absoluteString.replacing("https:", with: "http:")))
                return .follow(changed)
            }
        } routes: {
            $0.on("/start", respond: { _ in .redirect(to: "/end") })
            $0.on("/end", respond: { _ in .text("here") })
        } perform: { session, server in
            let response = try await session.call(SessionRequest(url: Self.url("https", server, "/start"))).response()
            #expect(response.url == (try Self.url("https", server, "/end")))
        }
    }

    @Test func anUnverifiedCertificateStoresNothing() async throws {
        let store = HSTSStore()
        try await Self.withServer(store: store, policy: { _ in .insecureAcceptAnyCertificate }) {
            $0.on("/*") { _ in Self.response() }
        } perform: { session, server in
            _ = try await session.call(SessionRequest(url: Self.url("https", server))).response()
            #expect(store.hosts.isEmpty)
        }
    }

    @Test(arguments: [nil, "max-age=1000"] as [String?])
    func aConfirmedResponseHasTheFieldOfItsConfirmationAlone(field: String?) async throws {
        let store = HSTSStore()
        try await Self.withServer(store: store, configure: { $0.cacheStore = MemoryCacheStore() }) {
            $0.on("/*") { request in
                var response = Self.response()
                if request.headerFields.contains(.ifNoneMatch) {
                    response = .status(.notModified)
                    response.headerFields[.strictTransportSecurity] = field
                }
                response.headerFields[.cacheControl] = "no-cache"
                response.headerFields[.eTag] = "\"1\""
                return response
            }
        } perform: { session, server in
            let request = SessionRequest(url: try Self.url("https", server))
            _ = try await session.call(request).response()
            store.removeAll()
            #expect(try await session.call(request).response().cacheOutcome == .revalidated)
            #expect(store.hosts.map(\.includesSubdomains) == (field == nil ? [] : [false]))
        }
    }

    @Test func aHostIsForgottenWhenItAsksForThat() async throws {
        let store = HSTSStore()
        store.add([HSTSStore.Host(name: Self.host, includesSubdomains: true, expires: .distantFuture)])
        try await Self.withServer(store: store) {
            $0.on("/*") { _ in Self.response("max-age=0") }
        } perform: { session, server in
            _ = try await session.call(SessionRequest(url: Self.url("http", server))).response()
            #expect(store.hosts.isEmpty)
        }
    }

    @Test func credentialsAreForTheRequestedOrigin() async throws {
        let store = HSTSStore()
        store.add([HSTSStore.Host(name: Self.host, includesSubdomains: false, expires: .distantFuture)])
        let credentials = CredentialStore()
        try await Self.withServer(store: store, configure: { $0.credentialStore = credentials }) {
            $0.on("/*") { request in .text(request.headerFields[.authorization] ?? "none") }
        } perform: { session, server in
            let plain = ProtectionSpace(origin: try Origin(Self.url("http", server)))
            let secure = ProtectionSpace(origin: try Origin(Self.url("https", server)))
            credentials.set(try .bearer(token: "plain"), for: plain, preemptively: true)
            credentials.set(try .bearer(token: "secure"), for: secure, preemptively: true)
            let request = SessionRequest(url: try Self.url("http", server))
            let response = try await session.call(request).response(StringResponseSerializer())
            #expect(response.value == "Bearer secure")
        }
    }
}
