import FoundationEssentials
import Testing

@testable import LinnetOAuth

@Suite(.timeLimit(.minutes(1)))
struct OAuthTokenTests {
    private static let start = Date(timeIntervalSince1970: 1_000_000)

    private func token(lifetime: Double?) -> OAuthToken {
        OAuthToken(
            accessToken: "access", refreshToken: "refresh", issued: Self.start,
            expires: lifetime.map { Self.start.addingTimeInterval($0) }, scopes: ["a", "b"])
    }

    @Test func descriptionsAndMirrorsShowNoSecret() {
        var text = ""
        let token = token(lifetime: 60)
        dump(token, to: &text)
        text += "\(token)" + String(reflecting: token)
        #expect(!text.contains("access\"") && !text.contains("\"refresh\""))
        #expect(text.contains("<redacted>"))
        text = ""
        let authentication = OAuthClient.Authentication.basic(secret: "sesame")
        dump(authentication, to: &text)
        #expect(!(text + "\(authentication)" + String(reflecting: authentication)).contains("sesame"))
    }

    @Test(arguments: [nil, 0, 0.25, 3600.0])
    func aTokenIsStoredWithAllItHas(lifetime: Double?) throws {
        var token = token(lifetime: lifetime)
        token.isForClient = lifetime == 0
        let data = try JSONEncoder().encode(token)
        #expect(try JSONDecoder().decode(OAuthToken.self, from: data) == token)
    }

    @Test(arguments: [
        "", "{}", #"{"access_token":"a"}"#, #"{"access_token":"a b","issued_at":1}"#,
        #"{"access_token":1,"issued_at":1}"#,
        #"{"access_token":"a","issued_at":1,"expires_at":"soon"}"#,
    ])
    func whatIsNoTokenIsNotDecoded(text: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(OAuthToken.self, from: Data(text.utf8)) }
    }

    /// The lifetime, the time since the issue, and whether the token is renewed 30 seconds before its expiry.
    @Test(arguments: [
        (3600, 0, false), (3600, 3569, false), (3600, 3570, true), (3600, 7200, true),
        // Half of a short life counts, and at least ten seconds.
        (30, 14, false), (30, 15, true), (10, 9, false), (10, 10, true), (1, 9, false), (0, 0, false), (0, 9, false),
        (0, 10, true),
        // It had expired before it was issued.
        (-1, 0, true),
        // The clock jumped back.
        (3600, -100_000, false), (10, -1, false),
    ])
    func aTokenExpiresWithinALeeway(lifetime: Double, time: Double, expires: Bool) {
        let now = Self.start.addingTimeInterval(time)
        #expect(token(lifetime: lifetime).expires(within: .seconds(30), of: now) == expires)
    }

    @Test func aTokenWithoutALifetimeDoesNotExpire() {
        #expect(!token(lifetime: nil).expires(within: .seconds(30), of: .distantFuture))
    }
}
