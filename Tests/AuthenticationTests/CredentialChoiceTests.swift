import LinnetMessages
import Synchronization
import Testing

@testable import LinnetAuthentication

/// Tests which stored credential answers a response, and where an answer is sent again.
@Suite(.timeLimit(.minutes(1)))
struct CredentialChoiceTests {
    private static let basic = "Basic realm=lab"
    private static let bearer = "Bearer realm=lab"
    private static let digest = "Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-256"
    private static let md5 = "Digest realm=lab, nonce=n, qop=auth, algorithm=MD5"

    private enum Stored: CaseIterable {
        case bearer, password, basic

        func make() throws -> Credential {
            switch self {
            case .bearer: try .bearer(token: "t0ken")
            case .password: try .password(username: "ada", password: "digested")
            case .basic: try .basic(username: "ada", password: "plain")
            }
        }
    }

    /// The schemes that are answered in turn, when each answer is refused.
    private static func schemes(_ fields: [String], _ url: String, _ stored: [Stored]) throws -> [String] {
        let (store, origin) = (CredentialStore(), try testOrigin(url))
        for credential in stored { store.set(try credential.make(), for: ProtectionSpace(origin: origin)) }
        var refused: Set<Credential> = []
        var schemes: [String] = []
        while let authenticator = store.authenticator(for: .parse(fields), of: origin, refused: refused) {
            let value = authenticator.answer(method: "GET", uri: "/").value
            schemes.append(String(value.prefix { $0 != " " }))
            refused.insert(authenticator.credential)
        }
        return schemes
    }

    @Test func theOrderIsBearerDigestBasic() throws {
        for fields in [[Self.basic, Self.digest, Self.bearer], [Self.bearer + ", " + Self.basic + ", " + Self.digest]] {
            let schemes = try Self.schemes(fields, "https://example.com", Stored.allCases)
            #expect(schemes == ["Bearer", "Digest", "Basic"])
        }
    }

    @Test func aPasswordIsSentByBasicOverHTTPSAlone() throws {
        #expect(try Self.schemes([Self.basic], "https://example.com", [.password]) == ["Basic"])
        #expect(try Self.schemes([Self.basic], "http://example.com", [.password]) == [])
        // MD5 is not answered without the option, so over https Basic is.
        #expect(try Self.schemes([Self.md5, Self.basic], "https://example.com", [.password]) == ["Basic"])
        #expect(try Self.schemes([Self.md5, Self.basic], "http://example.com", [.password]) == [])
        // A refused password is not tried again by Basic.
        #expect(try Self.schemes([Self.digest, Self.basic], "https://example.com", [.password]) == ["Digest"])
    }

    @Test func nothingIsSentByBasicInClearTextWhereDigestIsOffered() throws {
        let both = [Self.digest, Self.basic]
        #expect(try Self.schemes(both, "http://example.com", [.password, .basic]) == ["Digest"])
        #expect(try Self.schemes([Self.md5, Self.basic], "http://example.com", [.password, .basic]) == [])
        // A program that has stored Basic alone wants it, also in clear text.
        #expect(try Self.schemes(both, "http://example.com", [.basic]) == ["Basic"])
        #expect(try Self.schemes([Self.basic], "http://example.com", [.password, .basic]) == ["Basic"])
    }

    @Test func theStrongestDigestOfAllRealmsIsAnswered() throws {
        let (store, origin) = (CredentialStore(), try testOrigin("http://example.com"))
        for realm in ["weak", "strong"] {
            store.set(
                try .password(username: realm, password: "pass"), for: ProtectionSpace(origin: origin, realm: realm))
        }
        let fields = [
            "Digest realm=weak, nonce=n, qop=auth, algorithm=SHA-256",
            "Digest realm=strong, nonce=n, qop=auth, algorithm=SHA-512-256",
            "Digest realm=other, nonce=n, qop=auth, algorithm=SHA-512-256",
        ]
        let authenticator = try #require(store.authenticator(for: .parse(fields), of: origin, refused: []))
        #expect(authenticator.answer(method: "GET", uri: "/").value.contains("username=\"strong\""))
    }

    @Test func aPasswordIsNotSentBeforeAChallenge() throws {
        let (store, origin) = (CredentialStore(), try testOrigin("https://example.com"))
        let target = try testTarget("https://example.com/a")
        store.set(try Stored.bearer.make(), for: ProtectionSpace(origin: origin), preemptively: true)
        store.set(try Stored.password.make(), for: ProtectionSpace(origin: origin), preemptively: true)
        #expect(store.authenticator(before: target)?.credential.scheme == "bearer")
    }

    @Test func theLastPreemptiveCredentialOfAnOriginCounts() throws {
        let (store, origin) = (CredentialStore(), try testOrigin("https://example.com"))
        let target = try testTarget("https://example.com/a")
        let (one, two) = (ProtectionSpace(origin: origin, realm: "1"), ProtectionSpace(origin: origin, realm: "2"))
        var scheme: String? { store.authenticator(before: target)?.credential.scheme }
        store.set(try Stored.bearer.make(), for: one, preemptively: true)
        #expect(scheme == "bearer")
        store.set(try Stored.basic.make(), for: two, preemptively: true)
        #expect(scheme == "basic")
        store.set(try Stored.bearer.make(), for: one)
        #expect(scheme == "basic")
        store.set(try Stored.basic.make(), for: two)
        #expect(scheme == nil)
    }

    @Test(
        arguments: [
            ("", ["/", "/a", "/x/y"], []),
            (", domain=\"/a\"", ["/a", "/ab", "/a/b"], ["/", "/b"]),
            (", domain=\"/a/ /b/\"", ["/a/c", "/b/c"], ["/a", "/c"]),
            (", domain=\"http://example.com/a/\"", ["/a/c"], ["/c", "/b/c"]),
            // Paths of another origin do not count: the folder of the request remains.
            (", domain=\"https://example.com/ //example.com/ http://other.example/ mailto:a\"", ["/b/d"], ["/a", "/"]),
            (", domain=\"\"", ["/a"], []), (", domain=\" \"", ["/a"], []),
        ] as [(String, [String], [String])])
    func theDomainSaysWhereAnAnswerIsSentAgain(domain: String, inside: [String], outside: [String]) throws {
        let (store, origin) = (CredentialStore(), try testOrigin("http://example.com"))
        store.set(try Stored.password.make(), for: ProtectionSpace(origin: origin))
        let authenticator = try #require(
            store.authenticator(for: .parse([Self.digest + domain]), of: origin, refused: []))
        store.accepted(authenticator, at: try testTarget("http://example.com/b/c"))
        for path in inside {
            #expect(store.authenticator(before: try testTarget("http://example.com" + path)) != nil)
            #expect(store.authenticator(before: try testTarget("https://example.com" + path)) == nil)
        }
        for path in outside { #expect(store.authenticator(before: try testTarget("http://example.com" + path)) == nil) }
        store.refused(authenticator.credential, at: try testTarget("http://example.com/b/c"))
        for path in inside { #expect(store.authenticator(before: try testTarget("http://example.com" + path)) == nil) }
    }

    private func nonce(_ answer: AuthenticationAnswer?) -> Substring? {
        answer.flatMap { $0.value.split(separator: ", ").first { $0.hasPrefix("nonce=") } }
    }

    /// A server that refuses a nonce which two requests had used at once may want its counts in their order.
    @Test func noncesAreUsedInTurnOnceTheirOrderMatters() throws {
        let (store, origin) = (CredentialStore(), try testOrigin("http://example.com"))
        let target = try testTarget("http://example.com/b/c")
        store.set(try Stored.password.make(), for: ProtectionSpace(origin: origin))
        func learn(_ nonce: String) throws {
            let challenge = Self.digest.replacing("nonce=n", with: "nonce=\(nonce)")
            let authenticator = try #require(store.authenticator(for: .parse([challenge]), of: origin, refused: []))
            store.accepted(authenticator, at: target)
        }
        func answer() -> AuthenticationAnswer? { store.authenticator(before: target)?.answer(method: "GET", uri: "/") }
        try learn("one")
        // One after the other: the nonce has expired.
        for _ in 0..<2 { #expect(nonce(answer()) == "nonce=\"one\"") }
        try store.refused(#require(answer()), at: target)
        #expect(answer() == nil)
        try learn("two")
        var answers = [answer(), answer()]
        #expect(answers.map(nonce) == ["nonce=\"two\"", "nonce=\"two\""])
        try store.refused(#require(answers[1]), at: target)
        try learn("three")
        try learn("four")
        answers = [answer(), answer(), answer()]
        #expect(answers.map(nonce) == ["nonce=\"four\"", "nonce=\"three\"", nil])
        answers[1] = nil
        #expect(nonce(answer()) == "nonce=\"three\"")
        // The authenticator in use becomes the latest one again.
        store.accepted(try #require(store.authenticator(before: target)), at: target)
        #expect(nonce(answer()) == "nonce=\"three\"")
    }

    @Test func concurrentRequestsNeverShareANonceThatIsUsedInTurn() async throws {
        let (store, origin) = (CredentialStore(), try testOrigin("http://example.com"))
        let target = try testTarget("http://example.com/b/c")
        store.set(try Stored.password.make(), for: ProtectionSpace(origin: origin))
        for number in 0..<4 {
            let challenge = Self.digest.replacing("nonce=n", with: "nonce=\(number)")
            let authenticator = try #require(store.authenticator(for: .parse([challenge]), of: origin, refused: []))
            store.accepted(authenticator, at: target)
            guard number == 0 else { continue }
            // The order matters after this refusal.
            let both = (0..<2).compactMap { _ in
                store.authenticator(before: target)?.answer(method: "GET", uri: "/")
            }
            try store.refused(#require(both.last), at: target)
        }
        let used = Nonces()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<500 {
                        guard let reserved = store.authenticator(before: target) else { continue }
                        guard let own = nonce(reserved.answer(method: "GET", uri: "/")) else { continue }
                        #expect(used.begin(own))
                        used.end(own)
                        withExtendedLifetime(reserved) {}
                    }
                }
            }
        }
    }

    /// RFC 7617, 2.2: the credential of the innermost folder is sent, in whatever order the two were accepted.
    @Test(arguments: [["/a/", "/a/b/"], ["/a/b/", "/a/"]])
    func theInnermostPathsCredentialIsSent(order: [String]) throws {
        let (store, origin) = (CredentialStore(), try testOrigin("https://example.com"))
        for path in ["/a/", "/a/b/"] {
            let space = ProtectionSpace(origin: origin, realm: path)
            store.set(try .basic(username: path, password: "plain"), for: space)
        }
        for path in order {
            let challenges = AuthenticationChallenge.parse(["Basic realm=\"\(path)\""])
            let authenticator = try #require(store.authenticator(for: challenges, of: origin, refused: []))
            store.accepted(authenticator, at: try testTarget("https://example.com" + path + "page"))
        }
        for (path, space) in [
            ("/a/", "/a/"), ("/a/x", "/a/"), ("/a/b/", "/a/b/"), ("/a/b/c/d", "/a/b/"), ("/a/b", "/a/"),
        ] {
            let sent = store.authenticator(before: try testTarget("https://example.com" + path))?.credential
            let expected = try Credential.basic(username: space, password: "plain")
            #expect(sent == expected, "\(path)")
        }
        #expect(store.authenticator(before: try testTarget("https://example.com/")) == nil)
    }

    /// A wider space with the same credential takes the place of those in it, whose nonces are older.
    @Test func theLatestNonceIsUsedInTheSpacesOfItsDomain() throws {
        let (store, origin) = (CredentialStore(), try testOrigin("https://example.com"))
        store.set(try .password(username: "ada", password: "pw"), for: ProtectionSpace(origin: origin))
        for (nonce, domain) in [("one", "/a/b/"), ("two", "/a/")] {
            let challenge =
                "Digest realm=\"r\", qop=\"auth\", algorithm=SHA-256, nonce=\"\(nonce)\", domain=\"\(domain)\""
            let authenticator = try #require(store.authenticator(for: .parse([challenge]), of: origin, refused: []))
            store.accepted(authenticator, at: try testTarget("https://example.com\(domain)page"))
        }
        for path in ["/a/b/c", "/a/c"] {
            let authenticator = store.authenticator(before: try testTarget("https://example.com" + path))
            #expect(authenticator?.answer(method: "GET", uri: path).computation?.nonce == "two", "\(path)")
        }
    }

    @Test func learnedPathsAreLimited() throws {
        let (store, origin) = (CredentialStore(), try testOrigin("http://example.com"))
        store.set(try Stored.password.make(), for: ProtectionSpace(origin: origin))
        for index in 0..<100 {
            let uris = (0..<1000).map { "/\(index)/\($0)/" }.joined(separator: " ").prefix(4000)
            let authenticator = try #require(
                store.authenticator(for: .parse([Self.digest + ", domain=\"\(uris)\""]), of: origin, refused: []))
            store.accepted(authenticator, at: try testTarget("http://example.com/"))
        }
        let known = try (0..<100).flatMap { index in
            try (0..<100).filter { try isKnown("/\(index)/\($0)/a", store) }
        }
        #expect(known.count == 64)
    }

    private func isKnown(_ path: String, _ store: CredentialStore) throws -> Bool {
        store.authenticator(before: try testTarget("http://example.com" + path)) != nil
    }
}

/// The nonces that requests have at the moment.
private final class Nonces: Sendable {
    private let used = Mutex(Set<Substring>())

    func begin(_ nonce: Substring) -> Bool { used.withLock { $0.insert(nonce).inserted } }

    func end(_ nonce: Substring) { used.withLock { _ = $0.remove(nonce) } }
}
