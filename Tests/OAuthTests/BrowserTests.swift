import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import NIOCore
import Synchronization
import Testing

@testable import LinnetOAuth

/// Logins in a browser, which is a session that follows redirects.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct BrowserTests {
    /// The answer to the login page: a redirect to the redirect URI with a query.
    private static func redirect(_ request: RecordedRequest, _ query: (Form) -> String) -> MockResponse {
        let form = Form(request.query ?? "")
        return .redirect(to: (form["redirect_uri"] ?? "") + "?" + query(form))
    }

    /// Reads a page, and returns its status and text.
    private static func get(_ url: URL, with browser: HTTPSession) async throws -> (status: Int, text: String) {
        let response = try await browser.call(SessionRequest(url: url)).bytes(validation: .none)
        let body = try await response.body.collect(upTo: 1 << 20)
        return (response.status.code, String(decoding: body, as: UTF8.self))
    }

    /// Logs in with the answer of the login page. Returns the result, the last page of the browser, and the requests to
    /// the token endpoint.
    private func login(
        _ query: @escaping @Sendable (Form) -> String,
        configure: @escaping (inout OAuthClient) throws -> Void = { _ in }
    ) async throws -> (error: OAuthError?, page: (status: Int, text: String), tokenRequests: [RecordedRequest]) {
        try await withIssuer(
            { $0.path == "/authorize" ? Self.redirect($0, query) : tokenAnswer("a1", refresh: "r1") },
            configure: configure
        ) { client, server in
            try await withSession { browser in
                var page = (status: 0, text: "")
                let error = await oauthError {
                    try await client.authorize { page = try await Self.get($0, with: browser) }
                }
                return (error, page, server.recordedRequests.filter { $0.path == "/token" })
            }
        }
    }

    private static func success(_ form: Form) -> String { "code=c%2B1&state=\(form["state"] ?? "")" }

    @Test func theCodeIsExchangedWithItsProof() async throws {
        let asked = Mutex<Form?>(nil)
        let (error, page, requests) = try await login(
            { form in
                asked.withLock { $0 = form }
                return Self.success(form)
            },
            configure: {
                $0.scopes = ["posts", "birds"]
                $0.resources = ["https://api.example.com/"]
            })
        #expect(error == nil && page.status == 200 && page.text.contains("You can close this page"))
        let form = try #require(asked.withLock { $0 })
        #expect(form["response_type"] == "code" && form["client_id"] == "finch" && form["scope"] == "posts birds")
        #expect(form["code_challenge_method"] == "S256" && form["resource"] == "https://api.example.com/")
        #expect(form["state"]?.utf8.count == 43)
        let request = try #require(requests.first?.form)
        #expect(request["grant_type"] == "authorization_code" && request["code"] == "c+1")
        #expect(request["redirect_uri"] == form["redirect_uri"] && request["resource"] == "https://api.example.com/")
        #expect(form["redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true)
        #expect(AuthorizationRequest.challenge(of: request["code_verifier"] ?? "") == form["code_challenge"])
        #expect(request["code_verifier"] != form["state"])
    }

    /// RFC 7636, appendix B.
    @Test func theChallengeIsTheOneOfTheRFC() {
        let challenge = AuthorizationRequest.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    /// The part of the answer after the state, and the code of the error.
    @Test(arguments: [
        ("&error=access_denied&error_description=No.", OAuthError.Code.accessDenied),
        ("&error=server_error", .serverError),
        ("&error=x%1B%5B31m", .otherErrorResponse), ("", .invalidResponse), ("&code=", .invalidResponse),
        ("&code=c&code=d", .invalidResponse), ("&error=access_denied&error=b", .invalidResponse),
        ("&code=c&iss=https://evil.example", .issuerMismatch), ("&code=c&iss=", .issuerMismatch),
    ])
    func anAnswerThatIsWrongGetsNoToken(rest: String, code: OAuthError.Code) async throws {
        let (error, page, requests) = try await login({ "state=\($0["state"] ?? "")" + rest })
        #expect(error?.code == code && page.status == 403 && requests.isEmpty)
        #expect(!page.text.contains("access_denied") && !page.text.contains("31m"))
    }

    /// The requests with a wrong state, whose answers change nothing.
    private static func answerWithOtherStates(_ url: URL, _ browser: HTTPSession) async throws {
        let form = Form(url.query ?? "")
        let (address, state) = (form["redirect_uri"] ?? "", form["state"] ?? "")
        for query in ["state=x&code=c", "state=\(state)x&code=c", "state=\(state)&state=x&code=c", "state=&error=e"] {
            let page = try await get(try #require(URL(string: "\(address)?\(query)")), with: browser)
            #expect(page.status == 400)
        }
    }

    @Test func anAnswerWithAnotherStateDoesNotEndTheLogin() async throws {
        try await withIssuer(
            { $0.path == "/authorize" ? Self.redirect($0, Self.success) : tokenAnswer("a1") }
        ) { client, server in
            try await withSession { browser in
                let token = try await client.authorize { url in
                    try await Self.answerWithOtherStates(url, browser)
                    #expect(try await Self.get(url, with: browser).status == 200)
                }
                #expect(token.accessToken == "a1")
                #expect(server.recordedRequests.count { $0.path == "/token" } == 1)
            }
        }
    }

    @Test func aLoginWithAnswersOfOtherLoginsAloneEndsAtTheLimit() async throws {
        let clock = ManualClock()
        try await withIssuer({ _ in .text("") }, configure: { $0.clock = clock }) { client, server in
            try await withSession { browser in
                let login = Task {
                    try await client.authorize(waiting: .seconds(60)) {
                        try await Self.answerWithOtherStates($0, browser)
                    }
                }
                try await clock.waitForSleepers(count: 1)
                clock.advance(by: .seconds(60))
                #expect(await oauthError { try await login.value }?.code == .stateMismatch)
                #expect(server.recordedRequests.isEmpty)
            }
        }
    }

    @Test func anIssuerThatNamesItselfMustDoSo() async throws {
        let (error, _, requests) = try await login(Self.success) { $0 = $0.namingIssuer() }
        #expect(error?.code == .issuerMismatch && requests.isEmpty)
        let issuer = Mutex("")
        let (none, page, _) = try await login({ form in
            Self.success(form) + "&iss=" + FormEncoding.encode(issuer.withLock { $0 })
        }) { client in
            client = client.namingIssuer()
            issuer.withLock { $0 = client.server.issuer }
        }
        #expect(none == nil && page.status == 200)
    }

    @Test func aSecondAnswerChangesNothing() async throws {
        let gate = Gate()
        try await withIssuer { request in
            if request.path == "/authorize" { return Self.redirect(request, Self.success) }
            await gate.wait()
            return request.form["code"] == "c+1" ? tokenAnswer("a1") : errorAnswer("invalid_grant")
        } perform: { client, server in
            try await withSession { browser in
                let address = Mutex<URL?>(nil)
                let login = Task {
                    try await client.authorize { url in
                        address.withLock { $0 = url }
                        _ = try await Self.get(url, with: browser)
                    }
                }
                try await poll { server.recordedRequests.contains { $0.path == "/token" } }
                let form = Form(try #require(address.withLock { $0 }?.query))
                for query in ["code=other&state=\(form["state"] ?? "")", "error=access_denied&state=x"] {
                    let url = try #require(URL(string: (form["redirect_uri"] ?? "") + "?" + query))
                    #expect(try await Self.get(url, with: browser).status == 409)
                }
                gate.open()
                #expect(try await login.value.accessToken == "a1")
                let closed = try #require(URL(string: form["redirect_uri"] ?? ""))
                let error = await #expect(throws: SessionError.self) { try await Self.get(closed, with: browser) }
                #expect(error?.code == .connectionFailed)
            }
        }
    }

    /// A request, and the status of its page. None of them is an answer.
    @Test(arguments: [
        ("GET /callback HTTP/1.1\r\n\r\n", "400"), ("GET /callback?code=c HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\n\r\n", "404"), ("GET /favicon.ico HTTP/1.0\r\n\r\n", "404"),
        ("GET /callback/?state=x HTTP/1.1\r\n\r\n", "404"), ("POST /callback?state=x HTTP/1.1\r\n\r\n", "405"),
        ("\r\n\r\n", "400"), ("GET /callback\r\n\r\n", "400"), ("\u{0}\u{FF}\r\n\r\n", "400"),
        ("GET /callback HTTP/2\r\n\r\n", "400"), ("GET /" + String(repeating: "a", count: 100_000), "431"),
        ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 20_000) + "\r\n\r\n", "431"),
    ])
    func whatIsNoAnswerGetsAPageAndEndsNothing(request: String, status: String) async throws {
        let listener = LoopbackListener(path: "/callback")
        try await listener.open()
        let authorization = AuthorizationRequest(
            redirectURI: "", server: OAuthServerMetadata(issuer: "", tokenEndpoint: URL(filePath: "/")))
        listener.judgeAnswers { authorization.judge($0) }
        let response = try LocalSocket(listener.port).exchange(request)
        #expect(response.hasPrefix("HTTP/1.1 \(status) ") && response.hasSuffix("</html>\n"), "\(response.prefix(99))")
        let answer = "GET /callback?code=c&state=\(authorization.state) HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(try LocalSocket(listener.port).exchange(answer).hasPrefix("HTTP/1.1 200 "))
        #expect(try await listener.code() == "c")
        await listener.close()
    }

    @Test func openConnectionsDoNotDelayTheEnd() async throws {
        let listener = LoopbackListener(path: "/")
        try await listener.open()
        let silent = try (0..<50).map { _ in try LocalSocket(listener.port) }
        let half = try LocalSocket(listener.port)
        half.write("GET / HT")
        await listener.close()
        for socket in silent { #expect(socket.readToEnd() == "") }
    }

    @Test(arguments: ["", "GET /", "GET / HTTP/1.1\r\nHost: a\r\n"])
    func aRequestThatDoesNotEndIsClosed(beginning: String) async throws {
        let listener = LoopbackListener(path: "/", requestTime: .milliseconds(20))
        try await listener.open()
        #expect(try LocalSocket(listener.port).exchange(beginning) == "")
        await listener.close()
    }

    @Test func theUserHasUntilTheLimit() async throws {
        let clock = ManualClock()
        try await withIssuer({ _ in .text("Log in here.") }, configure: { $0.clock = clock }) { client, _ in
            let login = Task { try await client.authorize(waiting: .seconds(60)) { _ in } }
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(60))
            #expect(await oauthError { try await login.value }?.code == .timeout)
            let other = Task { try await client.authorize { _ in } }
            try await clock.waitForSleepers(count: 1)
            other.cancel()
            #expect(await oauthError { try await other.value }?.code == .cancelled)
        }
    }

    @Test func anErrorOfTheBrowserEndsTheLogin() async throws {
        struct NoBrowser: Error {}
        _ = try await withIssuer({ _ in .text("") }) { client, _ in
            await #expect(throws: NoBrowser.self) { try await client.authorize { _ in throw NoBrowser() } }
        }
    }

    @Test func aLoginThatCannotBeSecureIsNotBegun() async throws {
        func code(redirectPath: String = "/callback", _ change: (inout OAuthServerMetadata) -> Void) async throws
            -> OAuthError.Code?
        {
            try await withIssuer({ _ in .text("") }) { client, _ in
                var server = client.server
                change(&server)
                let changed = OAuthClient(id: "finch", server: server, session: client.session)
                return await oauthError {
                    try await changed.authorize(redirectPath: redirectPath) { _ in Issue.record("The browser opened.") }
                }?.code
            }
        }
        #expect(try await code { $0.codeChallengeMethods = ["plain"] } == .unsupported)
        #expect(try await code { $0.authorizationEndpoint = nil } == .unsupported)
        #expect(
            try await code { $0.authorizationEndpoint = URL(string: "http://example.com/authorize") }
                == .insecureEndpoint)
        for path in ["callback", "/a b", "/a?b", "/ä", ""] {
            #expect(try await code(redirectPath: path) { _ in } == .invalidConfiguration)
        }
    }

    @Test func theQueryOfTheAuthorizationEndpointIsKept() throws {
        let server = OAuthServerMetadata(issuer: "https://a.example", tokenEndpoint: URL(filePath: "/"))
        let request = AuthorizationRequest(redirectURI: "http://127.0.0.1:1/callback", server: server)
        let endpoint = try #require(URL(string: "https://a.example/login?tenant=b%26c"))
        let url = try request.url(endpoint, clientID: "a&b", [])
        #expect(
            url.absoluteString.hasPrefix("https://a.example/login?tenant=b%26c&response_type=code&client_id=a%26b&"))
    }
}

extension OAuthClient {
    /// The client of an issuer that names itself in answers.
    fileprivate func namingIssuer() -> OAuthClient {
        var server = server
        server.namesIssuerInAnswers = true
        return OAuthClient(id: id, server: server, session: session)
    }
}
