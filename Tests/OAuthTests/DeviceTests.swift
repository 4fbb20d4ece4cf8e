import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetOAuth

@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct DeviceTests {
    private static func beginning(interval: String = "5", lifetime: Int = 600) -> MockResponse {
        .json(
            """
            {"device_code":"dc","user_code":"WDJB-MJHT","verification_uri":"https://example.com/device",\
            "verification_uri_complete":"https://example.com/device?user_code=WDJB-MJHT",\
            "expires_in":\(lifetime),"interval":\(interval)}
            """)
    }

    /// Logs in with the answers of the token endpoint in order; the last one is repeated.
    ///
    /// - Returns: The result, and the seconds between the requests to the token endpoint.
    private func login(
        _ answers: [MockResponse], beginning: MockResponse = beginning(),
        prompt: @escaping @Sendable (OAuthClient.DeviceAuthorization) throws -> Void = { _ in }
    ) async throws -> (Result<OAuthToken, any Error>, pauses: [Duration]) {
        let clock = ManualClock()
        let times = Mutex<[ManualClock.Instant]>([])
        let result = try await withIssuer(
            { request in
                guard request.path == "/token" else { return beginning }
                let index = times.withLock { times in
                    times.append(clock.now)
                    return times.count - 1
                }
                return answers[min(index, answers.count - 1)]
            },
            configure: {
                $0.clock = clock
                $0.scopes = ["posts"]
                $0.resources = ["https://api.example.com/"]
            }
        ) { client, server in
            let login = Task { try await client.authorizeDevice { try prompt($0) } }
            let driver = Task {
                while !Task.isCancelled {
                    try await clock.waitForSleepers(count: 1)
                    if let next = clock.nextDeadline { clock.advance(to: next) }
                }
            }
            let result = await login.result
            driver.cancel()
            if let first = server.recordedRequests.first {
                #expect(first.path == "/device" && first.form["scope"] == "posts" && first.form["client_id"] == "finch")
                #expect(first.form["resource"] == "https://api.example.com/")
            }
            for request in server.recordedRequests.dropFirst() {
                #expect(request.form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code")
                #expect(request.form["device_code"] == "dc" && request.form["client_id"] == "finch")
            }
            return result
        }
        let all = [ManualClock.Instant()] + times.withLock { $0 }
        return (result, zip(all, all.dropFirst()).map { $0.duration(to: $1) })
    }

    private func code(_ result: Result<OAuthToken, any Error>) -> OAuthError.Code? {
        if case .failure(let error) = result { (error as? OAuthError)?.code } else { nil }
    }

    @Test func theTokenComesWhenTheUserHasAnswered() async throws {
        let shown = Mutex<OAuthClient.DeviceAuthorization?>(nil)
        let (result, pauses) = try await login(
            [
                errorAnswer("authorization_pending"), errorAnswer("authorization_pending"),
                tokenAnswer("a", refresh: "r"),
            ],
            prompt: { authorization in shown.withLock { $0 = authorization } })
        #expect(try result.get().accessToken == "a")
        #expect(pauses == [.seconds(5), .seconds(5), .seconds(5)])
        let authorization = try #require(shown.withLock { $0 })
        #expect(authorization.userCode == "WDJB-MJHT" && authorization.lifetime == .seconds(600))
        #expect(authorization.verificationURI.absoluteString == "https://example.com/device")
        #expect(authorization.verificationURIComplete?.query == "user_code=WDJB-MJHT")
        var text = ""
        dump(authorization, to: &text)
        #expect(!text.contains("\"dc\""))
    }

    @Test func slowDownAddsFiveSecondsForGood() async throws {
        let (result, pauses) = try await login([
            errorAnswer("slow_down"), errorAnswer("authorization_pending"), errorAnswer("slow_down"), tokenAnswer("a"),
        ])
        #expect(try result.get().accessToken == "a")
        #expect(pauses == [.seconds(5), .seconds(10), .seconds(10), .seconds(15)])
    }

    @Test func aRequestThatFailsIsRepeatedAfterTwiceTheInterval() async throws {
        let closed = MockResponse.text("{}").with(.init(.close, at: .responseHead))
        let (result, pauses) = try await login([closed, tokenAnswer("a")], beginning: Self.beginning(interval: "3"))
        #expect(try result.get().accessToken == "a")
        #expect(pauses.first == .seconds(3) && pauses.last == .seconds(6))
    }

    @Test(arguments: [
        MockResponse.text("<html>", status: .serviceUnavailable), .text("", status: .tooManyRequests),
        .text("", status: .badGateway), errorAnswer("server_error", status: .internalServerError),
        errorAnswer("temporarily_unavailable"), errorAnswer("rate_limited", status: .tooManyRequests),
    ])
    func anIssuerThatFailsForAWhileIsAskedLessOften(answer: MockResponse) async throws {
        let (result, pauses) = try await login([answer, answer, errorAnswer("authorization_pending"), tokenAnswer("a")])
        #expect(try result.get().accessToken == "a")
        #expect(pauses == [.seconds(5), .seconds(10), .seconds(20), .seconds(20)])
    }

    @Test func anIssuerThatFailsUntilTheCodeExpiresIsTheCause() async throws {
        let (result, pauses) = try await login(
            [.text("", status: .serviceUnavailable)], beginning: Self.beginning(lifetime: 300))
        #expect(code(result) == .expiredToken)
        guard case .failure(let error as OAuthError) = result else { return }
        #expect((error.underlying as? OAuthError)?.status == 503)
        // The interval grows up to a minute.
        #expect(pauses == [5, 10, 20, 40, 60, 60, 60].map { .seconds($0) })
    }

    @Test(arguments: [
        MockResponse.text("<html>"), .text("", status: .notImplemented), .text("", status: .notFound),
        errorAnswer("rate_limited"),
    ])
    func anAnswerThatDoesNotPassEndsTheLogin(answer: MockResponse) async throws {
        let (result, pauses) = try await login([answer])
        #expect(code(result) == .invalidResponse || code(result) == .otherErrorResponse)
        #expect(pauses.count == 1)
    }

    @Test func aCodeThatExpiresInTheMiddleEndsTheLogin() async throws {
        let (result, pauses) = try await login(
            [errorAnswer("authorization_pending")], beginning: Self.beginning(interval: "5", lifetime: 16))
        #expect(code(result) == .expiredToken && pauses.count == 3)
    }

    @Test(arguments: [
        ("access_denied", OAuthError.Code.accessDenied), ("expired_token", .expiredToken),
        ("invalid_grant", .invalidGrant),
    ])
    func anAnswerOfTheIssuerEndsTheLogin(name: String, code: OAuthError.Code) async throws {
        let (result, pauses) = try await login([errorAnswer("authorization_pending"), errorAnswer(name)])
        #expect(self.code(result) == code && pauses.count == 2)
    }

    @Test func aMissingOrTooShortIntervalIsNotAFlood() async throws {
        for (interval, seconds) in [("null", 5), ("0", 1), ("0.001", 1)] {
            let (result, pauses) = try await login([tokenAnswer("a")], beginning: Self.beginning(interval: interval))
            #expect(try result.get().accessToken == "a" && pauses == [.seconds(seconds)])
        }
    }

    @Test(arguments: [
        #"{}"#, "<html>",
        #"{"device_code":"d","user_code":"U","verification_uri":"https://example.com"}"#,
        #"{"device_code":"d","user_code":"U","verification_uri":"https://example.com","expires_in":-1}"#,
        #"{"device_code":"d","user_code":"U","verification_uri":"https://example.com","expires_in":"600s"}"#,
        #"{"device_code":"d","user_code":"U","verification_uri":"https://example.com","expires_in":9,"interval":1e300}"#,
        #"{"device_code":"d","user_code":"U","verification_uri":"http://example.com","expires_in":9}"#,
        #"{"device_code":"d","user_code":"U","verification_uri":"javascript:alert(1)","expires_in":9}"#,
        #"{"device_code":"d","user_code":"U\u001b[2J","verification_uri":"https://example.com","expires_in":9}"#,
        #"{"device_code":"d","user_code":"","verification_uri":"https://example.com","expires_in":9}"#,
    ])
    func aBeginningThatIsInvalidShowsNothing(body: String) async throws {
        let (result, pauses) = try await login(
            [tokenAnswer("a")], beginning: .json(body), prompt: { _ in Issue.record("The user saw it.") })
        #expect(code(result) == .invalidResponse && pauses.isEmpty)
    }

    @Test func anErrorOfThePromptEndsTheLogin() async throws {
        struct Refusal: Error {}
        let (result, pauses) = try await login([tokenAnswer("a")], prompt: { _ in throw Refusal() })
        guard case .failure(let error) = result else { return #expect(Bool(false)) }
        #expect(error is Refusal && pauses.isEmpty)
    }

    @Test func aWaitingLoginCanBeCancelled() async throws {
        let clock = ManualClock()
        try await withIssuer({ _ in Self.beginning() }, configure: { $0.clock = clock }) { client, _ in
            let login = Task { try await client.authorizeDevice { _ in } }
            try await clock.waitForSleepers(count: 1)
            login.cancel()
            #expect(code(await login.result) == .cancelled)
        }
    }
}
