import FoundationEssentials
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct CredentialTests {
    private static func origin(_ text: String) throws -> Origin {
        try Origin(#require(URL(string: text)))
    }

    @Test func itShowsNoSecret() throws {
        let credentials = [
            try Credential.basic(username: "ada", password: "s3cret"), try Credential.bearer(token: "s3cret"),
        ]
        for credential in credentials {
            var dumped = ""
            dump(credential, to: &dumped)
            let texts = [String(describing: credential), String(reflecting: credential), "\([credential])", dumped]
            for text in texts {
                #expect(!text.contains("s3cret"))
                #expect(!text.contains(Data("ada:s3cret".utf8).base64EncodedString()))
            }
        }
    }

    @Test func whatCannotBeSentIsRefused() {
        #expect(throws: SessionError.self) { try Credential.basic(username: "a:b", password: "") }
        #expect(throws: SessionError.self) { try Credential.basic(username: "a", password: "b\r\nX: y") }
        #expect(throws: SessionError.self) { try Credential.bearer(token: "") }
        #expect(throws: SessionError.self) { try Credential.bearer(token: "a b") }
    }

    @Test func aCredentialOfAnotherOriginIsNotRemembered() throws {
        let (one, two) = (try Self.origin("http://one.example"), try Self.origin("http://two.example"))
        let credential = try Credential.basic(username: "ada", password: "secret")
        var table = CredentialTable()
        table.add(credential, for: ProtectionSpace(origin: one), withoutBeingAsked: false)
        for origin in [one, two] { table.accepted(credential, at: "/a/b", of: origin) }
        #expect(table.credential(at: "/a/c", of: one) == credential)
        #expect(table.credential(at: "/a/c", of: two) == nil)
    }

    @Test func theRealmsOwnGoesBeforeTheOrigins() throws {
        let store = CredentialStore()
        let origin = try Self.origin("https://example.com")
        let (wide, own) = (
            try Credential.basic(username: "wide", password: "1"), try Credential.basic(username: "own", password: "2")
        )
        store.set(wide, for: ProtectionSpace(origin: origin))
        store.set(own, for: ProtectionSpace(origin: origin, realm: "r"))
        let challenge: (String) -> AuthenticationChallenge = { .init(scheme: "Basic", parameters: ["realm": $0]) }
        #expect(store.credential(for: challenge("r"), of: origin) == own)
        #expect(store.credential(for: challenge("s"), of: origin) == wide)
        #expect(store.credential(for: .init(scheme: "basic"), of: origin) == wide)
        #expect(store.credential(for: .init(scheme: "bearer"), of: origin) == nil)
        for other in ["http://example.com", "https://example.com:444", "https://www.example.com"] {
            #expect(store.credential(for: challenge("r"), of: try Self.origin(other)) == nil)
        }
        store.removeCredentials(for: ProtectionSpace(origin: origin, realm: "r"))
        #expect(store.credential(for: challenge("r"), of: origin) == wide)
        store.removeAll()
        #expect(store.credential(for: challenge("r"), of: origin) == nil)
    }

    @Test(arguments: [
        ("https://Example.COM/a", "https://example.com"), ("https://example.com:443", "https://example.com"),
        ("http://u:p@example.com:8080/", "http://example.com:8080"),
    ])
    func originsAreCompared(url: String, expected: String) throws {
        #expect(try Self.origin(url).description == expected)
        #expect(try Self.origin(url) == Self.origin(expected))
    }
}
