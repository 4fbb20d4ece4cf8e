import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import Testing

@testable import LinnetOAuth

@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct GrantTests {
    private static let old = OAuthToken(accessToken: "a0", refreshToken: "r0", scopes: ["posts"])

    @Test func aRefreshTokenIsRotated() async throws {
        let now = Date(timeIntervalSince1970: 5000)
        try await withIssuer(
            { _ in tokenAnswer("a1", refresh: "r1") }, configure: { $0.now = { now } }
        ) { client, server in
            let token = try await client.refresh(Self.old)
            #expect(token.accessToken == "a1" && token.refreshToken == "r1" && token.scopes == ["posts"])
            #expect(token.issued == now && token.expires == now.addingTimeInterval(3600))
            let request = try #require(server.recordedRequests.first)
            #expect(request.method == .post && request.path == "/token")
            #expect(request.headerFields[.contentType] == "application/x-www-form-urlencoded")
            #expect(request.headerFields[.authorization] == nil)
            #expect(request.bodyText == "grant_type=refresh_token&refresh_token=r0&client_id=finch")
        }
    }

    @Test func theRefreshTokenIsKeptIfThereIsNoNewOne() async throws {
        try await withIssuer({ _ in tokenAnswer("a1", lifetime: nil) }) { client, _ in
            let token = try await client.refresh(Self.old)
            #expect(token.refreshToken == "r0" && token.expires == nil)
        }
    }

    /// Issuers that send a string are against RFC 6749, section 5.1, but there are some.
    @Test(arguments: [("3600", 3600.0), ("0", 0.0), ("0060", 60.0), ("3153600000", 3_153_600_000.0)])
    func aLifetimeCanBeAStringOfDigits(text: String, lifetime: Double) async throws {
        let now = Date(timeIntervalSince1970: 5000)
        let answer = MockResponse.json(#"{"access_token":"a1","token_type":"bearer","expires_in":"\#(text)"}"#)
        try await withIssuer({ _ in answer }, configure: { $0.now = { now } }) { client, _ in
            let token = try await client.refresh(Self.old)
            #expect(token.expires == now.addingTimeInterval(lifetime))
        }
    }

    /// Issuers that send an array are against RFC 6749, section 5.1, but there are some.
    @Test(arguments: [
        (#""a b""#, ["a", "b"]), (#"["a","b"]"#, ["a", "b"]), (#"["a b"]"#, ["a", "b"]), ("[]", []), (#""""#, []),
        ("null", ["posts"]),
    ])
    func theScopesCanBeAnArray(scope: String, scopes: [String]) async throws {
        let answer = MockResponse.json(#"{"access_token":"a1","token_type":"bearer","scope":\#(scope)}"#)
        try await withIssuer({ _ in answer }) { client, _ in
            let token = try await client.refresh(Self.old)
            #expect(token.scopes == scopes)
        }
    }

    @Test func scopesThatTheIssuerDoesNotNameAreTheRequestedOnes() async throws {
        try await withIssuer(
            { _ in tokenAnswer("a1") }, authentication: .basic(secret: "s"), configure: { $0.scopes = ["read"] }
        ) { client, _ in
            let token = try await client.clientCredentialsToken()
            #expect(token.scopes == ["read"] && token.isForClient)
        }
    }

    @Test func aTokenWithoutARefreshTokenIsNotRefreshed() async throws {
        try await withIssuer({ _ in tokenAnswer("a1") }) { client, server in
            let error = await oauthError { try await client.refresh(OAuthToken(accessToken: "a0")) }
            #expect(error?.code == .loginRequired && server.recordedRequests.isEmpty)
        }
    }

    @Test func theClientGetsATokenForItself() async throws {
        try await withIssuer(
            { _ in tokenAnswer("a1") }, authentication: .basic(secret: "s:e c/ret"),
            configure: {
                $0.scopes = ["read", "write"]
                $0.resources = ["https://api.example.com/", "urn:posts"]
            }
        ) { client, server in
            #expect(try await client.clientCredentialsToken().accessToken == "a1")
            let request = try #require(server.recordedRequests.first)
            // RFC 6749, section 2.3.1: both are encoded as in a form.
            let pair = Data("finch:s%3Ae%20c%2Fret".utf8).base64EncodedString()
            #expect(request.headerFields[.authorization] == "Basic \(pair)")
            #expect(request.form["client_id"] == nil && request.form["client_secret"] == nil)
            #expect(request.form["grant_type"] == "client_credentials" && request.form["scope"] == "read write")
            #expect(request.form.all("resource") == ["https://api.example.com/", "urn:posts"])
        }
    }

    @Test func theSecretIsSentInTheBodyIfTheIssuerNeedsIt() async throws {
        try await withIssuer({ _ in tokenAnswer("a1") }, authentication: .post(secret: "a&b")) { client, server in
            _ = try await client.clientCredentialsToken()
            let request = try #require(server.recordedRequests.first)
            #expect(request.headerFields[.authorization] == nil)
            #expect(request.form["client_id"] == "finch" && request.form["client_secret"] == "a&b")
        }
    }

    @Test func aPublicClientGetsNoTokenForItself() async throws {
        try await withIssuer({ _ in tokenAnswer("a1") }) { client, server in
            #expect(await oauthError { try await client.clientCredentialsToken() }?.code == .invalidConfiguration)
            #expect(server.recordedRequests.isEmpty)
        }
    }

    @Test(arguments: ["a b", "", "a\"", "ä", "a\n"])
    func anInvalidScopeIsNotSent(scope: String) async throws {
        try await withIssuer(
            { _ in tokenAnswer("a1") }, authentication: .basic(secret: "s"), configure: { $0.scopes = [scope] }
        ) { client, server in
            #expect(await oauthError { try await client.clientCredentialsToken() }?.code == .invalidConfiguration)
            #expect(server.recordedRequests.isEmpty)
        }
    }

    /// The issuer, the token endpoint, and the code of the error.
    @Test(arguments: [
        ("https://example.com", "http://example.com/token", OAuthError.Code.insecureEndpoint),
        ("https://example.com", "http://127.0.0.1:1/token", .insecureEndpoint),
        ("http://127.0.0.1:1", "http://example.com/token", .insecureEndpoint),
        ("http://127.0.0.1:1", "http://127.0.0.1.example.com/token", .insecureEndpoint),
        ("https://example.com", "https://example.com/token#a", .invalidConfiguration),
        ("https://example.com", "file:///token", .invalidConfiguration),
    ])
    func credentialsAreNotSentToAnInsecureEndpoint(issuer: String, endpoint: String, code: OAuthError.Code) async throws
    {
        let stub = StubTransport { _ in .json("{}") }
        let session = try HTTPSession(transport: stub)
        let server = OAuthServerMetadata(issuer: issuer, tokenEndpoint: try #require(URL(string: endpoint)))
        let client = OAuthClient(id: "finch", server: server, session: session)
        #expect(await oauthError { try await client.refresh(Self.old) }?.code == code)
        #expect(stub.requests.isEmpty)
        await session.shutdown()
    }

    @Test func tokensAreRevoked() async throws {
        try await withIssuer({ _ in .status(.ok) }) { client, server in
            try await client.revoke(Self.old)
            try await client.revoke(OAuthToken(accessToken: "a9"))
            let forms = server.recordedRequests.map(\.form)
            #expect(forms.map { $0["token"] } == ["r0", "a9"])
            #expect(forms.map { $0["token_type_hint"] } == ["refresh_token", "access_token"])
            #expect(server.recordedRequests.allSatisfy { $0.path == "/revoke" })
        }
        try await withIssuer({ _ in errorAnswer("unsupported_token_type") }) { client, _ in
            #expect(await oauthError { try await client.revoke(Self.old) }?.code == .unsupportedTokenType)
        }
        try await withIssuer({ _ in .text("<html>", status: .serviceUnavailable) }) { client, _ in
            let error = await oauthError { try await client.revoke(Self.old) }
            #expect(error?.code == .invalidResponse && error?.status == 503)
        }
    }
}
