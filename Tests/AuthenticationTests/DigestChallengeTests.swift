import LinnetMessages
import Testing

@testable import LinnetAuthentication

/// Tests which challenges are answered, and how (RFC 7616, sections 3.3 and 3.4).
@Suite(.timeLimit(.minutes(1)))
struct DigestChallengeTests {
    private static let usual = "Digest realm=\"lab\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"

    @Test(arguments: [
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-256", true),
        ("digest REALM=lab, Nonce=n, QOP=AUTH, Algorithm=sha-256", true),
        ("Digest realm=\"\", nonce=\"\", qop=\"auth\", algorithm=\"SHA-512-256\"", true),
        ("Digest realm=lab, nonce=n, qop=\"token,  auth-int\", algorithm=SHA-256-sess", true),
        // The first value of a repeated parameter counts.
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-256, algorithm=none, realm=b", true),
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-256, unknown=\"ignored\", stale=maybe", true),
        // MD5, named and by default, and RFC 2069 are not answered without the option.
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=MD5", false),
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=MD5-sess", false),
        ("Digest realm=lab, nonce=n, qop=auth", false),
        ("Digest realm=lab, nonce=n, algorithm=SHA-256", false),
        // Malformed or unknown.
        ("Digest nonce=n, qop=auth, algorithm=SHA-256", false),
        ("Digest realm=lab, qop=auth, algorithm=SHA-256", false),
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-512", false),
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-256-session", false),
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=-sess", false),
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=\"\"", false),
        ("Digest realm=lab, nonce=n, qop=token, algorithm=SHA-256", false),
        ("Digest realm=lab, nonce=n, qop=\"\", algorithm=SHA-256", false),
        ("Digest realm=lab, nonce=n, qop=authentic, algorithm=SHA-256", false),
        ("Digest bm9uY2U=", false), ("Digest", false), ("Negotiate", false),
    ])
    func onlyWhatIsUnderstoodIsAnswered(challenge: String, isAnswered: Bool) throws {
        let credential = try Credential.password(username: "ada", password: "pass")
        let authenticator = ChallengeResponder(credential, for: .parse([challenge]), allowsBasic: false)
        #expect((authenticator != nil) == isAnswered)
    }

    @Test(arguments: [
        ("Digest realm=lab, nonce=n, algorithm=MD5-sess", false), ("Digest realm=lab, nonce=n", true),
        ("Digest realm=lab, nonce=n, algorithm=SHA-256", true), ("Digest realm=lab, nonce=n, qop=auth", true),
        ("Digest realm=lab, nonce=n, qop=token", false),
    ])
    func theOptionAllowsOldForms(challenge: String, isAnswered: Bool) throws {
        let credential = try Credential.password(username: "ada", password: "pass", allowsMD5: true)
        let authenticator = ChallengeResponder(credential, for: .parse([challenge]), allowsBasic: false)
        #expect((authenticator != nil) == isAnswered)
    }

    @Test func theStrongestIsAnswered() throws {
        let names = ["MD5", "SHA-256", "MD5-sess", "SHA-512-256", "SHA-256-sess", "SHA-3"]
        let challenges = names.map { "Digest realm=lab, nonce=n, qop=auth, algorithm=\($0)" }
        let credential = try Credential.password(username: "ada", password: "pass", allowsMD5: true)
        #expect(try answer(challenges, by: credential).value.contains("algorithm=SHA-512-256,"))
        let weaker = challenges.filter { !$0.contains("512") }
        #expect(try answer(weaker, by: credential).value.contains("algorithm=SHA-256,"))
        #expect(try answer([weaker.joined(separator: ", ")], by: credential).value.contains("algorithm=SHA-256,"))
        let legacy = ["Digest realm=lab, nonce=old", "Digest realm=lab, nonce=new, qop=auth"]
        #expect(try answer(legacy, by: credential).value.contains("nonce=\"new\""))
    }

    @Test func authGoesBeforeAuthInt() throws {
        let offered = "Digest realm=lab, nonce=n, algorithm=SHA-256, qop=\"auth-int,auth\""
        let credential = try Credential.password(username: "ada", password: "pass")
        #expect(try authenticator([offered], by: credential).bodyAlgorithm == nil)
        #expect(try answer([offered], by: credential).value.contains("qop=auth,"))
        let alone = "Digest realm=lab, nonce=n, algorithm=SHA-256, qop=auth-int"
        #expect(try authenticator([alone], by: credential).bodyAlgorithm == .sha256)
        #expect(try answer([alone], by: credential).value.contains("qop=auth-int,"))
    }

    @Test func quotesAreEscaped() throws {
        let challenge = #"Digest realm="say \"hi\" \\ you", nonce="a\"b", opaque="\\", qop=auth, algorithm=SHA-256"#
        let answer = try answer(
            [challenge], by: .password(username: #"a"d\a"#, password: "pass"), clientNonce: #"c"n"#, uri: #"/"q""#)
        let parsed = try #require(AuthenticationChallenge.parse([answer.value]).first?.parameters)
        #expect(parsed["username"] == #"a"d\a"#)
        #expect(parsed["realm"] == #"say "hi" \ you"#)
        #expect(parsed["nonce"] == #"a"b"#)
        #expect(parsed["opaque"] == #"\"#)
        #expect(parsed["uri"] == #"/"q""#)
        #expect(parsed["cnonce"] == #"c"n"#)
        let a1 = testHash("SHA256", #"a"d\a:say "hi" \ you:pass"#)
        let a2 = testHash("SHA256", #"GET:/"q""#)
        #expect(parsed["response"] == testHash("SHA256", #"\#(a1):a"b:00000001:c"n:auth:\#(a2)"#))
    }

    @Test func hostileValuesAreIgnored() throws {
        let credential = try Credential.password(username: "ada", password: "pass")
        for name in ["realm", "nonce", "opaque", "domain", "other"] {
            var challenge = try #require(AuthenticationChallenge.parse([Self.usual]).first)
            challenge.parameters[name] = String(repeating: "x", count: 4096)
            #expect(ChallengeResponder(credential, for: [challenge], allowsBasic: false) != nil)
            challenge.parameters[name] = String(repeating: "x", count: 4097)
            #expect(ChallengeResponder(credential, for: [challenge], allowsBasic: false) == nil)
            for character in ["\r\nX: y", "\0", "\u{7F}"] {
                challenge.parameters[name] = character
                #expect(ChallengeResponder(credential, for: [challenge], allowsBasic: false) == nil)
            }
        }
    }

    @Test func tenThousandChallengesAreBounded() throws {
        let store = CredentialStore()
        let origin = try testOrigin("https://example.com")
        let password = try Credential.password(username: "ada", password: "pass")
        store.set(password, for: ProtectionSpace(origin: origin))
        let weak = String(repeating: Self.usual + ", ", count: 10_000)
        let strong = Self.usual.replacing("SHA-256", with: "SHA-512-256")
        let challenges = AuthenticationChallenge.parse([weak + strong])
        #expect(challenges.count == 64)
        // Only the first 64 are considered.
        let chosen = try #require(store.authenticator(for: challenges, of: origin, refused: []))
        #expect(chosen.answer(method: "GET", uri: "/").value.contains("algorithm=SHA-256,"))
        #expect(chosen.credential == password)
    }
}

/// Parameters with octets that are not UTF-8.
@Suite(.timeLimit(.minutes(1)))
struct DigestOctetTests {
    /// A realm in ISO 8859-1 beside a user name and a password, which are in UTF-8.
    @Test func theOctetsOfTheRealmAreHashed() throws {
        let challenges = AuthenticationChallenge.parse(
            isoLatin1: ["Digest realm=\"caf\u{e9}\", nonce=\"n\u{e9}\", qop=auth, algorithm=SHA-256"])
        #expect(challenges.first?.realm == "café")
        let credential = try Credential.password(username: "ädä", password: "pässword")
        let authenticator = ChallengeResponder(
            credential, for: challenges, allowsBasic: false, makeClientNonce: { "cn" })
        let answer = try #require(authenticator).answer(method: "GET", uri: "/").value
        let (name, password) = (Array("ädä".utf8), Array("pässword".utf8))
        let a1 = testHash("SHA256", name + Array(":caf".utf8) + [0xE9] + Array(":".utf8) + password)
        let a2 = testHash("SHA256", "GET:/")
        let proof = testHash(
            "SHA256", Array("\(a1):n".utf8) + [0xE9] + Array(":00000001:cn:auth:\(a2)".utf8))
        #expect(answer.contains("response=\"\(proof)\""))
        #expect(answer.contains("username=\"\u{c3}\u{a4}d\u{c3}\u{a4}\", realm=\"caf\u{e9}\", nonce=\"n\u{e9}\""))
    }

    /// The realms have the same text and other octets.
    @Test func aNonceThatIsStaleInAnotherRealmRenewsNothing() throws {
        let parameters = "nonce=a, qop=auth, algorithm=SHA-256"
        let challenges = AuthenticationChallenge.parse(isoLatin1: ["Digest realm=\"\u{e9}\", \(parameters)"])
        let credential = try Credential.password(username: "ada", password: "pass")
        let authenticator = try #require(ChallengeResponder(credential, for: challenges, allowsBasic: false))
        let answer = authenticator.answer(method: "GET", uri: "/")
        let renewal = "nonce=b, stale=true, qop=auth, algorithm=SHA-256"
        for (realm, isRenewed) in [("\u{c3}\u{a9}", false), ("\u{e9}", true)] {
            let next = AuthenticationChallenge.parse(isoLatin1: ["Digest realm=\"\(realm)\", \(renewal)"])
            #expect((authenticator.renewed(by: next, after: answer) != nil) == isRenewed)
        }
    }
}
