import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import Testing

@testable import LinnetOAuth

@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct MetadataTests {
    @Test(arguments: [
        (
            "https://example.com", "https://example.com/.well-known/oauth-authorization-server",
            "https://example.com/.well-known/openid-configuration"
        ),
        (
            "https://example.com/", "https://example.com/.well-known/oauth-authorization-server",
            "https://example.com/.well-known/openid-configuration"
        ),
        // The examples of RFC 8414, sections 3 and 5.
        (
            "https://example.com/issuer1", "https://example.com/.well-known/oauth-authorization-server/issuer1",
            "https://example.com/issuer1/.well-known/openid-configuration"
        ),
        (
            "http://localhost:8080/a/", "http://localhost:8080/.well-known/oauth-authorization-server/a",
            "http://localhost:8080/a/.well-known/openid-configuration"
        ),
    ])
    func thePathOfTheIssuerFollowsTheWellKnownOne(issuer: String, oauth: String, openID: String) throws {
        let addresses = try OAuthServerMetadata.wellKnownAddresses(of: issuer)
        #expect(addresses.oauth.absoluteString == oauth && addresses.openID.absoluteString == openID)
    }

    @Test(arguments: [
        ("http://example.com", OAuthError.Code.insecureEndpoint), ("https://example.com?a", .invalidConfiguration),
        ("https://example.com/#a", .invalidConfiguration), ("example.com", .invalidConfiguration),
        ("", .invalidConfiguration),
    ])
    func anIssuerIsAnHTTPSURL(issuer: String, code: OAuthError.Code) async throws {
        #expect(await oauthError { try OAuthServerMetadata.wellKnownAddresses(of: issuer) }?.code == code)
    }

    /// Discovers a mock server, which answers at one of the two addresses.
    private func discover(
        at path: String = "/.well-known/oauth-authorization-server", suffix: String = "",
        _ answer: @escaping @Sendable (String) -> MockResponse
    ) async throws -> (Result<OAuthServerMetadata, any Error>, paths: [String]) {
        try await withMockServer(handler: { request in
            guard request.path == path else { return .status(.notFound) }
            return answer("http://\(request.authority ?? "")")
        }) { server in
            try await withSession { session in
                var url = server.url.absoluteString
                while url.hasSuffix("/") { url.removeLast() }
                let issuer = url + suffix
                let result = await Task { try await OAuthServerMetadata.discover(issuer, with: session) }.result
                return (result, server.recordedRequests.map(\.path))
            }
        }
    }

    private func code(_ result: Result<OAuthServerMetadata, any Error>) -> OAuthError.Code? {
        if case .failure(let error) = result { (error as? OAuthError)?.code } else { nil }
    }

    @Test func theIssuersMetadataAreRead() async throws {
        let (result, paths) = try await discover { url in
            .json(
                """
                {"issuer":"\(url)","token_endpoint":"\(url)/t","authorization_endpoint":"\(url)/a",
                "device_authorization_endpoint":"\(url)/d","revocation_endpoint":"\(url)/r",
                "code_challenge_methods_supported":["plain","S256"],
                "authorization_response_iss_parameter_supported":true}
                """)
        }
        let server = try result.get()
        #expect(server.tokenEndpoint.path == "/t" && server.authorizationEndpoint?.path == "/a")
        #expect(server.deviceAuthorizationEndpoint?.path == "/d" && server.revocationEndpoint?.path == "/r")
        #expect(server.codeChallengeMethods == ["plain", "S256"] && server.namesIssuerInAnswers)
        #expect(paths.count == 1)
    }

    @Test func openIDConnectsAddressIsTheSecondChoice() async throws {
        let (result, paths) = try await discover(at: "/b/.well-known/openid-configuration", suffix: "/b") {
            .json(#"{"issuer":"\#($0)/b","token_endpoint":"\#($0)/t"}"#)
        }
        let server = try result.get()
        #expect(server.authorizationEndpoint == nil && !server.namesIssuerInAnswers)
        #expect(paths == ["/.well-known/oauth-authorization-server/b", "/b/.well-known/openid-configuration"])
    }

    @Test func theMetadataOfAnotherIssuerAreRefused() async throws {
        for suffix in ["/", "/x", ".example.com"] {
            let (result, _) = try await discover {
                .json(#"{"issuer":"\#($0)\#(suffix)","token_endpoint":"\#($0)/t"}"#)
            }
            #expect(code(result) == .issuerMismatch)
        }
    }

    @Test(arguments: [
        "<html>", "[]", "{}", #"{"issuer":"$"}"#, #"{"issuer":"$","token_endpoint":7}"#,
        #"{"issuer":"$","token_endpoint":"/t"}"#, #"{"issuer":"$","token_endpoint":"file:///t"}"#,
    ])
    func whatIsNoMetadataIsInvalid(body: String) async throws {
        let (result, _) = try await discover { .text(body.replacing("$", with: $0)) }
        #expect(code(result) == .invalidResponse)
    }

    @Test func metadataAreBoundedAndNotRedirected() async throws {
        let (large, _) = try await discover { _ in .text(String(repeating: " ", count: 2 << 20)) }
        #expect(code(large) == .tooLarge)
        let (redirect, paths) = try await discover { .redirect(to: $0 + "/other") }
        #expect(code(redirect) == .redirectRefused && paths.count == 1)
        let (nothing, tried) = try await discover(at: "/none") { _ in .status(.ok) }
        #expect(code(nothing) == .invalidResponse && tried.count == 2)
    }
}
