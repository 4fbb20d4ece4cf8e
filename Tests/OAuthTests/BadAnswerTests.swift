import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import Testing

@testable import LinnetOAuth

/// Answers of token endpoints that are no tokens.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct BadAnswerTests {
    private static let old = OAuthToken(accessToken: "a0", refreshToken: "r0")

    private func error(for answer: MockResponse) async throws -> OAuthError? {
        try await withIssuer({ _ in answer }) { client, _ in await oauthError { try await client.refresh(Self.old) } }
    }

    @Test(arguments: [
        "<html><body>Log in</body></html>", "", "null", "[]", "\"token\"", "{", "{}",
        #"{"access_token":"a","access_token":"b","token_type":"bearer"}"#,
        #"{"access_token":"a"}"#, #"{"access_token":"a","token_type":"mac"}"#, #"{"token_type":"bearer"}"#,
        #"{"access_token":7,"token_type":"bearer"}"#, #"{"access_token":"","token_type":"bearer"}"#,
        #"{"access_token":"a\r\nX: y","token_type":"bearer"}"#, #"{"access_token":"a b","token_type":"bearer"}"#,
        #"{"access_token":"a","token_type":"bearer","refresh_token":{}}"#,
        #"{"access_token":"a","token_type":"bearer","scope":["b",1]}"#,
        #"{"access_token":"a","token_type":"bearer","scope":{"b":true}}"#,
        #"{"access_token":"a","token_type":"bearer","scope":7}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":-1}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":1e300}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":1e999}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":""}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":" 3600"}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":"-1"}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":"1e3"}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":"\u0663"}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":"9999999999"}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":"00000003600"}"#,
        #"{"access_token":"a","token_type":"bearer","expires_in":true}"#,
        #"{"error":["invalid_grant"]}"#,
        String(repeating: "[", count: 100_000), "{\"a\":" + String(repeating: "{\"a\":", count: 1000),
    ])
    func anAnswerThatIsNoTokenIsInvalid(body: String) async throws {
        #expect(try await error(for: .text(body))?.code == .invalidResponse, "\(body.prefix(100))")
    }

    @Test func anErrorWithTheStatusOfASuccessIsAnError() async throws {
        let answer = MockResponse.json(#"{"error":"invalid_grant","access_token":"a","token_type":"bearer"}"#)
        #expect(try await error(for: answer)?.code == .invalidGrant)
    }

    @Test func aPageWithTheStatusOfAnErrorIsInvalid() async throws {
        let error = try await error(for: .text("<html>", status: .badGateway))
        #expect(error?.code == .invalidResponse && error?.status == 502)
    }

    @Test(arguments: [
        ("invalid_request", OAuthError.Code.invalidRequest), ("invalid_client", .invalidClient),
        ("invalid_grant", .invalidGrant), ("unauthorized_client", .unauthorizedClient),
        ("unsupported_grant_type", .unsupportedGrantType), ("invalid_scope", .invalidScope),
        ("access_denied", .accessDenied), ("invalid_target", .invalidTarget), ("server_error", .serverError),
        ("temporarily_unavailable", .temporarilyUnavailable), ("expired_token", .expiredToken),
        ("interaction_required", .otherErrorResponse),
    ])
    func theCodesOfTheRFCsAreCodes(name: String, code: OAuthError.Code) async throws {
        let error = try await error(for: errorAnswer(name, status: .unauthorized))
        #expect(error?.code == code && error?.errorResponse?.error == name && error?.status == 401)
    }

    @Test func theIssuersTextsAreBoundedAndCannotControlATerminal() async throws {
        let long = String(repeating: "x", count: 10_000)
        let answer = MockResponse.json(
            #"{"error":"invalid\u001b[31m_grant","error_description":"a\nb\u202e\#(long)","error_uri":"\#(long)"}"#,
            status: .badRequest)
        let error = try #require(try await error(for: answer))
        let response = try #require(error.errorResponse)
        for text in [response.error, response.description ?? "", response.uri ?? "", error.message, "\(error)"] {
            #expect(text.unicodeScalars.count < 1000)
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{202E}" })
        }
    }

    @Test func secretsThatTheIssuerRepeatsAreNotInTheError() async throws {
        let token = OAuthToken(accessToken: "a0", refreshToken: "refresh-token-0")
        let answer = MockResponse.json(
            """
            {"error":"invalid_grant","error_description":"refresh-token-0 and client-secret-0 are bad",\
            "error_uri":"https://a.example/?t=refresh-token-0"}
            """,
            status: .badRequest)
        for authentication in [
            OAuthClient.Authentication.basic(secret: "client-secret-0"), .post(secret: "client-secret-0"),
        ] {
            try await withIssuer({ _ in answer }, authentication: authentication) { client, _ in
                let error = try #require(await oauthError { try await client.refresh(token) })
                var text = "\(error)"
                dump(error, to: &text)
                #expect(error.code == .invalidGrant && !text.contains("-0"), "\(text)")
            }
        }
    }

    @Test func anErrorOfTheSessionHasNoContentsOfTheResponse() async throws {
        try await withMockServer(.text("")) { server in
            try await withSession({ $0.interceptors = [LeakingInterceptor()] }) { session in
                let metadata = OAuthServerMetadata(
                    issuer: server.url.absoluteString, tokenEndpoint: server.url.appending(path: "token"))
                let client = OAuthClient(id: "finch", server: metadata, session: session)
                let error = await oauthError { try await client.refresh(Self.old) }
                #expect(error?.code == .requestFailed && error?.status == 400)
                let underlying = try #require(error?.underlying as? SessionError)
                #expect(underlying.body == nil && underlying.head?.headerFields.isEmpty == true)
                let inner = try #require(underlying.underlying as? SessionError)
                #expect(inner.body == nil)
            }
        }
    }

    @Test func aTokenOfAMegabyteIsTooLarge() async throws {
        for size in [100_000, 1 << 20, 4 << 20] {
            let answer = tokenAnswer(String(repeating: "a", count: size))
            #expect(try await error(for: answer)?.code == .tooLarge)
        }
        let answer = tokenAnswer("a", refresh: String(repeating: "r", count: 100_000))
        #expect(try await error(for: answer)?.code == .tooLarge)
    }

    @Test(arguments: [HTTPResponse.Status.movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect])
    func aRedirectOfTheTokenEndpointIsNotFollowed(status: HTTPResponse.Status) async throws {
        try await withMockServer(tokenAnswer("stolen")) { other in
            let target = other.url.appending(path: "token").absoluteString
            for location in ["/elsewhere", target] {
                try await withIssuer({ _ in .redirect(to: location, status: status) }) { client, server in
                    let error = await oauthError { try await client.refresh(Self.old) }
                    #expect(error?.code == .redirectRefused && error?.status == status.code)
                    #expect(server.recordedRequests.count == 1)
                }
            }
            #expect(other.recordedRequests.isEmpty)
        }
    }

    @Test func theRetriersOfTheSessionDoNotRepeatARequest() async throws {
        try await withMockServer(.text("", status: .serviceUnavailable)) { server in
            try await withSession({ $0.retriers = [Repeater()] }) { session in
                let metadata = OAuthServerMetadata(
                    issuer: server.url.absoluteString, tokenEndpoint: server.url.appending(path: "token"))
                let client = OAuthClient(id: "finch", server: metadata, session: session)
                #expect(await oauthError { try await client.refresh(Self.old) }?.status == 503)
                #expect(server.recordedRequests.count == 1)
            }
        }
    }

    @Test func anIssuerThatDoesNotAnswerCostsTheTimeout() async throws {
        let stalled = MockResponse.text("{}").with(.init(.stall, at: .responseHead))
        try await withIssuer({ _ in stalled }, configure: { $0.timeout = .milliseconds(50) }) { client, _ in
            let error = await oauthError { try await client.refresh(Self.old) }
            #expect(error?.code == .timeout && error?.underlying is SessionError)
        }
    }

    @Test func aFailedConnectionIsAFailedRequest() async throws {
        let closed = MockResponse.text("{}").with(.init(.close, at: .responseHead))
        let error = try await error(for: closed)
        #expect(error?.code == .requestFailed && error?.underlying is SessionError)
    }
}

/// Fails with an error that has a token in its contents.
private struct LeakingInterceptor: Interceptor {
    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        var inner = SessionError(.decodingFailed, "No.")
        inner.body = Data(#"{"access_token":"sesame"}"#.utf8)
        var error = SessionError(.unacceptableStatus, "No.", underlying: inner)
        error.body = inner.body
        error.head = HTTPResponse(status: .badRequest, headerFields: [.setCookie: "sesame"])
        throw error
    }
}

/// Repeats a failed request three times.
private struct Repeater: RequestRetrier {
    func decide(on attempt: RetryPolicy.Attempt) async throws -> RetryPolicy.Decision {
        attempt.number <= 3 ? .retry(after: .zero) : .doNotRetry
    }
}
