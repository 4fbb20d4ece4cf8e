import FoundationEssentials
import HTTPTypes
import LinnetAuthentication
import LinnetMessages
import LinnetSerialization
import Testing

@testable import LinnetSession

@Suite(.timeLimit(.minutes(1)))
struct AuthenticationLinkTests {
    private let store = CredentialStore()
    private let url = "https://a.test/a"
    private let basic: HTTPFields = [.wwwAuthenticate: "Basic realm=\"r\""]

    private func addPassword(preemptively: Bool = false) throws {
        let origin = try Origin(#require(URL(string: url)))
        store.set(
            try .password(username: "u", password: "p"), for: ProtectionSpace(origin: origin),
            preemptively: preemptively)
    }

    private func challenge(_ fields: HTTPFields) throws -> StreamedResponse {
        try .test(.unauthorized, fields, at: url)
    }

    @Test func withoutAStoreAndHooksNothingHappens() throws {
        let link = AuthenticationLink(store: nil)
        var flight = try Flight.test(url)
        var response = try challenge(basic)
        #expect(try link.send(&flight).proceeds && link.receive(&response, &flight).proceeds)
        #expect(flight.authentication == nil)
    }

    @Test func aChallengeIsAnsweredOnce() throws {
        try addPassword()
        let link = AuthenticationLink(store: store)
        var flight = try Flight.test(url)
        #expect(try link.send(&flight).proceeds)
        var response = try challenge(basic)
        #expect(try link.receive(&response, &flight).repeats)
        let sent = try #require(link.sendAgain(&flight).request)
        #expect(sent.headerFields[.authorization] == "Basic dTpw")
        // The password is wrong, and there is no other one.
        flight.change(to: sent)
        #expect(try link.receive(&response, &flight).proceeds)
    }

    @Test func aRequestWithItsOwnFieldKeepsIt() throws {
        try addPassword()
        let link = AuthenticationLink(store: store)
        var flight = try Flight.test(url, .get, [.authorization: "Bearer a"])
        #expect(try link.send(&flight).proceeds)
        var response = try challenge(basic)
        #expect(try link.receive(&response, &flight).proceeds)
        #expect(flight.authentication?.value.failures == 1)
    }

    @Test func aKnownAnswerIsSentBeforeTheChallenge() throws {
        try addPassword()
        let link = AuthenticationLink(store: store)
        var first = try Flight.test(url)
        var response = try challenge(basic)
        #expect(try link.send(&first).proceeds && link.receive(&response, &first).repeats)
        first.change(to: try #require(link.sendAgain(&first).request))
        var accepted = try StreamedResponse.test(at: url)
        #expect(try link.receive(&accepted, &first).proceeds)
        var second = try Flight.test(url)
        #expect(try link.send(&second).request?.headerFields[.authorization] == "Basic dTpw")
    }

    @Test func theBodyIsHashedWhereTheServerAsksForIt() throws {
        try addPassword()
        let link = AuthenticationLink(store: store)
        var flight = try Flight.test(url, .post, body: .data(Data("a".utf8)))
        #expect(try link.send(&flight).proceeds)
        var response = try challenge([
            .wwwAuthenticate: "Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\", algorithm=SHA-256"
        ])
        #expect(try link.receive(&response, &flight).repeats)
        guard case .bodyHash(.sha256)? = link.sendAgain(&flight).question else { throw Unexpected() }
        flight.answer = .bodyHash("00")
        let field = link.sendAgain(&flight).request?.headerFields[.authorization]
        #expect(field?.contains("qop=auth-int") == true && !flight.hasAnswer)
    }

    @Test func aHookIsAskedAboutAChallenge() throws {
        let hooks = TaskHooks { $0.didReceiveChallenge = { _, _ in .performDefault } }
        let link = AuthenticationLink(store: nil)
        var flight = try Flight.test(url)
        flight.hooks = RequestHooks(
            TaskHooks.Context(taskID: 1, kind: .data, request: flight.request), tables: [hooks], executor: .serial())
        var response = try challenge(basic)
        #expect(try link.send(&flight).proceeds)
        guard case .challenge(let attempt)? = try link.receive(&response, &flight).question else { throw Unexpected() }
        #expect(attempt.challenges.map(\.scheme) == ["basic"] && attempt.proposedCredential == nil)
        flight.answer = .challenge(.reject)
        #expect(try link.receive(&response, &flight).proceeds)
        flight.answer = .challenge(.use(try .bearer(token: "t")))
        #expect(try link.receive(&response, &flight).repeats)
        #expect(link.sendAgain(&flight).request?.headerFields[.authorization] == "Bearer t")
        flight.answer = .challenge(.cancel)
        let error = #expect(throws: SessionError.self) { try link.receive(&response, &flight) }
        #expect(error?.code == .authenticationCancelled)
    }
}
