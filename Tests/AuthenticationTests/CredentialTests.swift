import FoundationEssentials
import LinnetMessages
import Testing

@testable import LinnetAuthentication

@Suite(.timeLimit(.minutes(1)))
struct CredentialTests {
    @Test func itShowsNoSecret() throws {
        let credentials = [
            try Credential.basic(username: "ada", password: "s3cret"), try Credential.bearer(token: "s3cret"),
            try Credential.password(username: "ada", password: "s3cret"),
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

    @Test func invalidCredentialsAreRefused() {
        #expect(throws: AuthenticationError.self) { try Credential.basic(username: "a:b", password: "") }
        #expect(throws: AuthenticationError.self) { try Credential.basic(username: "a", password: "b\r\nX: y") }
        #expect(throws: AuthenticationError.self) { try Credential.password(username: "a:b", password: "") }
        #expect(throws: AuthenticationError.self) { try Credential.password(username: "a", password: "\0") }
        #expect(throws: AuthenticationError.self) { try Credential.bearer(token: "") }
        #expect(throws: AuthenticationError.self) { try Credential.bearer(token: "a b") }
    }

    @Test func anOriginIsMadeFromText() {
        #expect(Origin("https://Example.com/a?b")?.description == "https://example.com")
        #expect(Origin("http://u:p@[::1]:8080")?.description == "http://[::1]:8080")
        for text in ["", "example.com", "ftp://example.com", "https://", "https://ex ample.com", "http://a:0"] {
            #expect(Origin(text) == nil)
        }
    }

    @Test func aCredentialOfAnotherOriginIsNotRemembered() throws {
        let (one, two) = (try testOrigin("http://one.example"), try testOrigin("http://two.example"))
        let credential = try Credential.basic(username: "ada", password: "secret")
        var table = CredentialTable()
        table.add(credential, for: ProtectionSpace(origin: one), withoutBeingAsked: false)
        let authenticator = try #require(ChallengeResponder(withoutChallenge: credential))
        for origin in [one, two] { table.accepted(authenticator, at: "/a/b", of: origin) }
        #expect(table.stock(at: "/a/c", of: one)?.next()?.credential == credential)
        #expect(table.stock(at: "/a/c", of: two)?.next() == nil)
    }

    @Test func aRealmsCredentialPrecedesTheOrigins() throws {
        let store = CredentialStore()
        let origin = try testOrigin("https://example.com")
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
            #expect(store.credential(for: challenge("r"), of: try testOrigin(other)) == nil)
        }
        store.removeCredentials(for: ProtectionSpace(origin: origin, realm: "r"))
        #expect(store.credential(for: challenge("r"), of: origin) == wide)
        store.removeAll()
        #expect(store.credential(for: challenge("r"), of: origin) == nil)
    }
}
