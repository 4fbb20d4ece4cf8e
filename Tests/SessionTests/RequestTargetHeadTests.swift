import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RequestTargetHeadTests {
    @Test func userInformationBecomesCredentials() throws {
        let url = try #require(URL(string: "http://ada:p%40ss@example.com/"))
        let target = try RequestTarget(url)
        #expect(target.origin.authority == "example.com")
        #expect(
            target.head(of: SessionRequest(url: url)).headerFields[.authorization]
                == HTTPFields.basicAuthorization(username: "ada", password: "p@ss"))
        let own = SessionRequest(url: url, headerFields: [.authorization: "Bearer t"])
        #expect(target.head(of: own).headerFields[values: .authorization] == ["Bearer t"])
    }

    /// The colon and a combining mark are one Character.
    @Test func aPasswordMayBeginWithACombiningMark() throws {
        let url = try #require(URL(string: "http://u:%CC%81@example.com/"))
        let field = try RequestTarget(url).head(of: SessionRequest(url: url)).headerFields[.authorization]
        #expect(field == "Basic " + Data([0x75, 0x3A, 0xCC, 0x81]).base64EncodedString())
    }

    @Test(arguments: ["ftp://example.com/", "http:///x", "http://127.1/", "http://a%3Ab@example.com/"])
    func aURLThatCannotBeRequestedIsAnInvalidURL(text: String) throws {
        let url = try #require(URL(string: text))
        let error = #expect(throws: SessionError.self) { try Origin(url) }
        #expect(error?.code == .invalidURL)
    }

    @Test func errorsDoNotShowCredentials() throws {
        let url = try #require(URL(string: "http://ada:secret@example.com/x"))
        let error = SessionError(.invalidURL, "x", url: url)
        #expect(error.url?.absoluteString == "http://example.com/x")
    }
}
