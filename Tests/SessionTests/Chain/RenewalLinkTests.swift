import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSerialization
import Testing

@testable import LinnetSession

@Suite(.timeLimit(.minutes(1)))
struct RenewalLinkTests {
    private let issuer = TokenIssuer()

    private func makeLink(_ token: Int? = 1) throws -> (RenewalLink, RenewableCredential<TokenIssuer>) {
        let credential = RenewableCredential(issuer, token, for: [try #require(Origin("https://a.test"))])
        return (RenewalLink(source: credential), credential)
    }

    @Test func theCredentialIsForItsOriginsAlone() throws {
        let (link, _) = try makeLink()
        for (url, value) in [
            ("https://a.test/x", "Bearer 1"), ("https://a.test:8443/x", nil), ("http://a.test/x", nil),
            ("https://b.test/x", nil),
        ] {
            var flight = try Flight.test(url)
            #expect(try link.send(&flight).request?.headerFields[.authorization] == value, "\(url)")
        }
    }

    @Test(arguments: ["https://a.test/x", "https://u:p@a.test/x"])
    func aRequestWithItsOwnCredentialKeepsIt(url: String) throws {
        let (link, _) = try makeLink()
        var flight = try Flight.test(url, .get, url.contains("@") ? [:] : [.authorization: "Basic x"])
        #expect(try link.send(&flight).proceeds)
        var response = try StreamedResponse.test(.unauthorized, at: url)
        #expect(try link.receive(&response, &flight).proceeds)
    }

    @Test func withoutACredentialThereIsARenewalFirst() throws {
        let (link, credential) = try makeLink(nil)
        var flight = try Flight.test("https://a.test/x")
        guard case .renewal(_, after: 0)? = try link.send(&flight).question else {
            Issue.record("The link asks for no renewal.")
            return
        }
        credential.credential = 4
        flight.answer = .renewed
        #expect(try link.send(&flight).request?.headerFields[.authorization] == "Bearer 4")
        #expect(!flight.hasAnswer)
    }

    /// Its rules call it stale at once, for example since the clocks differ.
    @Test func aRenewedCredentialIsSentWhateverItsRulesSay() throws {
        let (link, credential) = try makeLink()
        issuer.expire(1)
        issuer.expire(2)
        var flight = try Flight.test("https://a.test/x")
        #expect(try link.send(&flight).question != nil)
        credential.credential = 2
        flight.answer = .renewed
        #expect(try link.send(&flight).request?.headerFields[.authorization] == "Bearer 2")
    }

    @Test func aRefusedCredentialIsRenewedOnceForARequest() throws {
        let (link, credential) = try makeLink()
        var flight = try Flight.test("https://a.test/x")
        #expect(try link.send(&flight).request != nil)
        var response = try StreamedResponse.test(.unauthorized, at: "https://a.test/x")
        #expect(try link.receive(&response, &flight).repeats)
        #expect(try link.sendAgain(&flight).question != nil)
        // Other requests do not begin with the refused credential.
        var other = try Flight.test("https://a.test/x")
        #expect(try link.send(&other).question != nil)
        credential.credential = 2
        flight.answer = .renewed
        #expect(try link.sendAgain(&flight).request?.headerFields[.authorization] == "Bearer 2")
        #expect(try link.receive(&response, &flight).proceeds)
    }

    @Test func aRefusalOfAnEarlierCredentialLeavesThePresentOne() throws {
        let (link, credential) = try makeLink()
        var flight = try Flight.test("https://a.test/x")
        #expect(try link.send(&flight).request != nil)
        credential.credential = 2
        var response = try StreamedResponse.test(.unauthorized, at: "https://a.test/x")
        #expect(try link.receive(&response, &flight).repeats)
        #expect(try link.sendAgain(&flight).request?.headerFields[.authorization] == "Bearer 2")
    }
}
