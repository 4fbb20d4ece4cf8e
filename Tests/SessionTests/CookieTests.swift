import FoundationEssentials
import HTTPTypes
import LinnetCookies
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite("Cookies of a session", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CookieTests {
    private func cookies(_ request: RecordedRequest) -> [String] { request.headerFields[values: .cookie] }

    private func withJar(
        _ jar: CookieJar = CookieJar(), routes: (inout MockServer.Routes) -> Void,
        perform: (HTTPSession, MockServer, CookieJar) async throws -> Void
    ) async throws {
        try await withMockClient(configure: { $0.cookieJar = jar }, routes: routes) { session, server in
            try await perform(session, server, jar)
        }
    }

    @Test(arguments: Surface.allCases)
    func cookiesOfAResponseAreSentWithLaterRequests(surface: Surface) async throws {
        try await withJar(routes: {
            $0.on("/login", .text("in").settingCookies("id=1; Path=/; HttpOnly", "theme=dark"))
            $0.on("/a", .text("a"))
        }) { session, server, jar in
            _ = await surface.send("/login", with: session)
            _ = await surface.send("/a", with: session)
            #expect(cookies(server.recordedRequests[0]).isEmpty)
            #expect(cookies(server.recordedRequests[1]) == ["id=1; theme=dark"])
            #expect(jar.all.map(\.name) == ["id", "theme"])
        }
    }

    @Test func eachHopOfARedirectStoresAndSendsItsOwnCookies() async throws {
        try await withJar(routes: {
            $0.on("/from", .redirect(to: "/deep/to").settingCookies("hop=1; Path=/deep", "root=1; Path=/"))
            $0.on("/deep/to", .text("here"))
        }) { session, server, _ in
            _ = try await session.get("/from").response()
            #expect(cookies(server.recordedRequests[1]) == ["hop=1; root=1"])
        }
    }

    @Test func cookiesStayWithTheirHost() async throws {
        let jar = CookieJar()
        try await withJar(
            jar,
            routes: {
                $0.on("/", .text("other"))
            }
        ) { session, other, _ in
            let elsewhere = try other.url("/").absoluteString.replacing("127.0.0.1", with: "localhost")
            try await withJar(
                jar,
                routes: {
                    $0.on("/from", .redirect(to: elsewhere).settingCookies("id=1"))
                }
            ) { _, server, _ in
                let url = try server.url("/from")
                let request = SessionRequest(url: url, headerFields: [.cookie: "own=1"])
                _ = try await session.call(request).response()
                #expect(cookies(server.recordedRequests[0]) == ["own=1"])
                // The request's own cookies are not sent to another host either.
                #expect(cookies(other.recordedRequests[0]).isEmpty)
                _ = try await session.get(url.absoluteString).response()
                #expect(cookies(server.recordedRequests[1]) == ["id=1"])
            }
        }
    }

    @Test func aRequestCanDoWithoutCookies() async throws {
        try await withJar(routes: {
            $0.on("/set", .text("set").settingCookies("id=1"))
        }) { session, server, jar in
            _ = try await session.get("/set").options { $0.usesCookies = false }.response()
            #expect(jar.all.isEmpty)
            _ = try await session.get("/set").response()
            _ = try await session.get("/set").options { $0.usesCookies = false }.response()
            #expect(cookies(server.recordedRequests[2]).isEmpty)
        }
    }

    /// RFC 6265bis, section 5.2: SameSite cookies are for requests of the same site, and Lax ones also for navigations.
    @Test(
        arguments: [
            (nil, false, ["strict=1; lax=1"]), ("http://127.0.0.1:1/page", false, ["strict=1; lax=1"]),
            ("http://other.example/", false, []), ("http://other.example/", true, ["lax=1"]),
            ("https://127.0.0.1/", false, []),
        ] as [(String?, Bool, [String])])
    func theMainDocumentDecidesAboutSameSiteCookies(document: String?, navigates: Bool, sent: [String]) async throws {
        try await withJar(routes: {
            $0.on("/set", .text("set").settingCookies("strict=1; SameSite=Strict", "lax=1; SameSite=Lax"))
            $0.on("/from", .redirect(to: "/set"))
        }) { session, server, _ in
            _ = try await session.get("/set").response()
            let call = session.get("/from").options {
                $0.mainDocument = document.flatMap { URL(string: $0) }
                $0.isTopLevelNavigation = navigates
            }
            _ = try await call.response()
            for request in server.recordedRequests.dropFirst() { #expect(cookies(request) == sent) }
            #expect(server.recordedRequests.count == 3)
            let command = try call.curlDescription(redaction: .insecureShowEverything)
            #expect(command.contains("lax=1") == sent.joined().contains("lax=1"))
        }
    }

    @Test func cookiesOfThirdPartiesCanBeRefused() async throws {
        let jar = CookieJar { $0.acceptPolicy = .onlyFromMainDocumentDomain }
        try await withJar(jar, routes: { $0.on("/set", .text("set").settingCookies("id=1")) }) { session, _, _ in
            let page = URL(string: "http://other.example/")
            _ = try await session.get("/set").options { $0.mainDocument = page }.response()
            #expect(jar.all.isEmpty)
            _ = try await session.get("/set").response()
            #expect(jar.all.map(\.name) == ["id"])
        }
    }

    @Test(arguments: [
        ("own=1", "own=1; id=2"), ("id=1", "id=1"), ("id=1; own=2", "id=1; own=2"), ("", "id=2"), ("id", "id; id=2"),
    ])
    func theRequestsOwnCookiesComeFirstAndWin(own: String, sent: String) async throws {
        try await withJar(routes: {
            $0.on("/set", .text("set").settingCookies("id=2"))
        }) { session, server, _ in
            _ = try await session.get("/set").response()
            let request = SessionRequest(url: try server.url("/set"), headerFields: [.cookie: own])
            _ = try await session.call(request).response()
            #expect(cookies(server.recordedRequests[1]) == [sent])
        }
    }

    @Test func aChallengeSetsCookiesForItsAnswer() async throws {
        let jar = CookieJar()
        let store = CredentialStore()
        try await withMockClient {
            $0.cookieJar = jar
            $0.credentialStore = store
        } routes: {
            $0.on("/locked") { request in
                guard request.headerFields[.authorization] == nil else { return .text("open") }
                var response = MockResponse.text("closed").settingCookies("nonce=7")
                response.status = .unauthorized
                response.headerFields[.wwwAuthenticate] = #"Basic realm="lab""#
                return response
            }
        } perform: { session, server in
            let url = try server.url("/locked")
            try store.set(.basic(username: "ada", password: "pass"), for: ProtectionSpace(origin: Origin(url)))
            let text = try await session.get("/locked").text()
            #expect(text == "open")
            #expect(cookies(server.recordedRequests[1]) == ["nonce=7"])
        }
    }

    @Test func aCommandLineHasTheCookiesRedacted() throws {
        let jar = CookieJar()
        let session = try HTTPSession { $0.cookieJar = jar }
        jar.store(
            setCookieFields: [.setCookie: "id=secret"], of: try #require(URL(string: "http://h.example/")))
        let command = try session.get("http://h.example/a").curlDescription()
        #expect(command.contains("cookie:") || command.contains("Cookie:"))
        #expect(!command.contains("secret"))
        #expect(
            try session.get("http://h.example/a").curlDescription(redaction: .insecureShowEverything).contains(
                "id=secret"))
        let without = try session.get("http://h.example/a").options { $0.usesCookies = false }.curlDescription()
        #expect(!without.lowercased().contains("cookie"))
    }

    @Test func withoutAJarNothingIsStored() async throws {
        try await withMockClient {
            $0.on("/set", .text("set").settingCookies("id=1"))
        } perform: { session, server in
            for _ in 0..<2 { _ = try await session.get("/set").response() }
            #expect(cookies(server.recordedRequests[1]).isEmpty)
        }
    }
}

extension MockResponse {
    func settingCookies(_ cookies: String...) -> MockResponse {
        var response = self
        for cookie in cookies { response.headerFields.append(HTTPField(name: .setCookie, value: cookie)) }
        return response
    }
}
