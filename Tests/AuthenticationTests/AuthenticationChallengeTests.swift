import LinnetAuthentication
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AuthenticationChallengeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var values: [String]
        var expected: [AuthenticationChallenge]

        init(_ values: String..., is expected: [AuthenticationChallenge]) {
            self.values = values
            self.expected = expected
        }

        var testDescription: String { values.joined(separator: " | ") }
    }

    private static func basic(_ realm: String) -> AuthenticationChallenge {
        AuthenticationChallenge(scheme: "basic", parameters: ["realm": realm])
    }

    @Test(arguments: [
        Case("Basic realm=\"Fake Realm\"", is: [basic("Fake Realm")]),
        Case("basic REALM=simple", is: [basic("simple")]),
        Case(
            "Basic realm = \"a\" , charset=\"UTF-8\"",
            is: [.init(scheme: "basic", parameters: ["realm": "a", "charset": "UTF-8"])]),
        Case("Basic", is: [.init(scheme: "basic")]),
        Case("Basic realm=\"\"", is: [basic("")]),
        Case("Basic realm=\"say \\\"hi\\\", \\\\ you\"", is: [basic("say \"hi\", \\ you")]),
        Case("Basic realm=\"ä\"", is: [basic("ä")]),
        // The example of RFC 9110, section 11.6.1.
        Case(
            "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
            is: [
                basic("simple"),
                .init(scheme: "newauth", parameters: ["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
            ]),
        Case("Negotiate, Basic realm=x", is: [.init(scheme: "negotiate"), basic("x")]),
        Case("Negotiate YII=, Basic realm=x", is: [.init(scheme: "negotiate", token68: "YII="), basic("x")]),
        Case("NTLM abc+/-._~==", is: [.init(scheme: "ntlm", token68: "abc+/-._~==")]),
        Case("Basic realm=\"a\"", "Bearer", is: [basic("a"), .init(scheme: "bearer")]),
        Case(" , ,Basic realm=a,, ,Bearer,", is: [basic("a"), .init(scheme: "bearer")]),
        Case("Basic realm=a, realm=b", is: [basic("a")]),
        Case(
            "Bearer error=\"invalid_token\",error_description=\"The token, it expired\"",
            is: [
                .init(
                    scheme: "bearer",
                    parameters: ["error": "invalid_token", "error_description": "The token, it expired"])
            ]),
        Case(
            "Digest realm=\"d\", qop=\"auth, auth-int\", nonce=abc",
            is: [.init(scheme: "digest", parameters: ["realm": "d", "qop": "auth, auth-int", "nonce": "abc"])]),
        // Malformed: challenges before the mistake count, the rest does not.
        Case("", is: []), Case("=", is: []), Case("\"Basic\"", is: []), Case("Basic;realm=a", is: []),
        Case("Basic realm=\"a", is: [.init(scheme: "basic")]), Case("Basic realm=\"a\\", is: [.init(scheme: "basic")]),
        Case("Bearer, Basic realm=\"a\" junk, Basic realm=b", is: [.init(scheme: "bearer"), .init(scheme: "basic")]),
        Case("Basic realm=a, \"x\", Bearer", is: [basic("a")]),
    ])
    func listsAreTakenApart(testCase: Case) {
        #expect(AuthenticationChallenge.parse(testCase.values) == testCase.expected)
    }

    @Test func theFirst64OfAllFieldsCount() {
        let value = String(repeating: "Basic, ", count: 40)
        let challenges = AuthenticationChallenge.parse([value, value + "Bearer", "Digest"])
        #expect(challenges == Array(repeating: .init(scheme: "basic"), count: 64))
    }

    @Test func aLongFieldIsParsedQuickly() {
        let value = String(repeating: "Basic realm=\"a, b\", ", count: 10_000)
        #expect(AuthenticationChallenge.parse([value]).count == 64)
        #expect(AuthenticationChallenge.parse([String(repeating: "a ", count: 100_000)]).count == 1)
    }
}
