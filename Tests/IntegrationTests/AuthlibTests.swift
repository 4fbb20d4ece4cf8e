import CommandSupport
import FoundationEssentials
import Linnet
import LinnetOAuth
import LinnetTesting
import Testing

/// Against an issuer of the Python package Authlib, which rotates refresh tokens.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct AuthlibTests {
    private static let secret = "s:ecret/1"

    private func withClient<Result>(
        _ id: String = "program", _ authentication: OAuthClient.Authentication = .none,
        _ configure: (inout OAuthClient) -> Void = { _ in },
        perform: (OAuthClient, HTTPSession) async throws -> Result
    ) async throws -> Result {
        try await Server.authlib.withSession { session in
            let server = try await OAuthServerMetadata.discover(Server.authlib.url.absoluteString, with: session)
            let client = OAuthClient(
                id: id, authentication: authentication, server: server, session: session, configure)
            return try await perform(client, session)
        }
    }

    /// Opens a page like a browser, which follows redirects.
    private static func browse(_ page: URL) async throws {
        let browser = try HTTPSession()
        let response = try await browser.call(SessionRequest(url: page)).bytes(validation: .none)
        _ = try await response.body.collect(upTo: 1 << 20)
        await browser.shutdown()
    }

    private func logIn(_ client: OAuthClient) async throws -> OAuthToken {
        try await client.authorize { try await Self.browse($0) }
    }

    private struct Account: Decodable, Sendable {
        let user: String?
        let client: String
        let scope: String
    }

    @Test func theMetadataAreRead() async throws {
        try await withClient { client, _ in
            let url = try Server.authlib.url
            #expect(client.server.tokenEndpoint == url.appending(path: "token"))
            #expect(client.server.codeChallengeMethods == ["S256"] && client.server.namesIssuerInAnswers)
        }
    }

    @Test func theBrowserLogsInWithPKCE() async throws {
        try await withClient("program", .none, { $0.scopes = ["posts", "birds"] }) { client, _ in
            let token = try await logIn(client)
            #expect(token.scopes == ["posts", "birds"] && token.refreshToken != nil && token.expires != nil)
        }
        try await withClient("service", .basic(secret: Self.secret)) { client, _ in
            let token = try await logIn(client)
            #expect(token.refreshToken != nil)
        }
    }

    @Test func aLoginThatTheUserDeniesIsAnError() async throws {
        try await withClient("program", .none, { $0.scopes = ["deny"] }) { client, _ in
            let error = await #expect(throws: OAuthError.self) { try await logIn(client) }
            #expect(error?.code == .accessDenied && error?.errorResponse?.description?.isEmpty == false)
        }
    }

    @Test func aRefusedTokenIsRenewedWithRotation() async throws {
        try await withClient { client, _ in
            let store = MemoryTokenStore(try await logIn(client))
            let first = try #require(store.token())
            let rules = OAuthAuthenticator(client: client, store: store)
            let credential = try await rules.makeCredential(for: [try #require(Origin(client.server.issuer))])
            // The access token alone ends.
            try await client.revoke(OAuthToken(accessToken: first.accessToken))
            try await Server.authlib.withSession(policy: nil, { $0.authenticator = .renewing(credential) }) { api in
                let account = try await api.get("api").value(as: Account.self)
                #expect(account.user == "ada" && account.client == "program")
            }
            let second = try #require(store.token())
            #expect(second.accessToken != first.accessToken && second.refreshToken != first.refreshToken)
            let error = await #expect(throws: OAuthError.self) { try await client.refresh(first) }
            #expect(error?.code == .invalidGrant)
            #expect(try await client.refresh(second).accessToken != second.accessToken)
        }
    }

    @Test(arguments: ["service", "poster"])
    func aServiceGetsATokenForItself(id: String) async throws {
        let authentication: OAuthClient.Authentication =
            id == "service" ? .basic(secret: Self.secret) : .post(secret: Self.secret)
        try await withClient(id, authentication, { $0.scopes = ["reports"] }) { client, _ in
            let rules = OAuthAuthenticator(client: client)
            let credential = try await rules.makeCredential(for: [try #require(Origin(client.server.issuer))])
            try await Server.authlib.withSession(policy: nil, { $0.authenticator = .renewing(credential) }) { api in
                let account = try await api.get("api").value(as: Account.self)
                #expect(account.client == id && account.scope == "reports" && account.user == nil)
            }
        }
        try await withClient(id, .basic(secret: "wrong")) { client, _ in
            let error = await #expect(throws: OAuthError.self) { try await client.clientCredentialsToken() }
            #expect(error?.code == .invalidClient && error?.status == 401)
        }
    }

    /// The issuer says `slow_down` to the second request.
    @Test(arguments: [false, true])
    func aDeviceLogsIn(isDenied: Bool) async throws {
        let clock = ManualClock()
        try await withClient("program", .none, { $0.clock = clock }) { client, _ in
            let login = Task {
                try await client.authorizeDevice { device in
                    #expect(device.verificationURIComplete != nil && device.userCode.utf8.count == 9)
                }
            }
            for pause in [5, 5] {
                try await clock.waitForSleepers(count: 1)
                clock.advance(by: .seconds(pause))
            }
            try await clock.waitForSleepers(count: 1)
            login.cancel()
            _ = await login.result
        }
        let other = ManualClock()
        try await withClient("program", .none, { $0.clock = other }) { client, _ in
            let login = Task {
                try await client.authorizeDevice { device in
                    let page = device.verificationURIComplete ?? device.verificationURI
                    try await Self.browse(
                        page.appending(queryItems: [URLQueryItem(name: "deny", value: isDenied ? "1" : "0")]))
                }
            }
            try await other.waitForSleepers(count: 1)
            other.advance(by: .seconds(5))
            if isDenied {
                let error = await #expect(throws: OAuthError.self) { try await login.value }
                #expect(error?.code == .accessDenied)
            } else {
                #expect(try await login.value.refreshToken != nil)
            }
        }
    }

    @Test func aRevokedTokenEnds() async throws {
        try await withClient { client, session in
            let token = try await logIn(client)
            try await client.revoke(token)
            let error = await #expect(throws: OAuthError.self) { try await client.refresh(token) }
            #expect(error?.code == .invalidGrant)
            let refused = await #expect(throws: SessionError.self) {
                try await session.get("api").header(.authorization, "Bearer \(token.accessToken)").data()
            }
            #expect(refused?.head?.status == .unauthorized)
            // A token that the issuer does not know is no error.
            try await client.revoke(OAuthToken(accessToken: "unknown"))
        }
    }
}
