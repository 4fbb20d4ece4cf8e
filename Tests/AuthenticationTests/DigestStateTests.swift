import Testing

@testable import LinnetAuthentication

/// Nonces, their counts, and the server's proof (RFC 7616, sections 3.3 to 3.5).
@Suite(.timeLimit(.minutes(1)))
struct DigestStateTests {
    private static let challenge = "Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-256"
    private static let secret = testHash("SHA256", "ada:lab:pass")

    private static func make(_ challenge: String = challenge) throws -> ChallengeResponder {
        try authenticator([challenge], by: .password(username: "ada", password: "pass"))
    }

    private static func parameters(_ authenticator: ChallengeResponder) throws -> [String: String] {
        let value = authenticator.answer(method: "GET", uri: "/").value
        return try #require(AuthenticationChallenge.parse([value]).first?.parameters)
    }

    private static func proof(count: String = "00000001", nonce: String = "n", uri: String = "/") -> String {
        testHash("SHA256", "\(secret):\(nonce):\(count):cn:auth:" + testHash("SHA256", ":" + uri))
    }

    @Test func eachAnswerHasItsOwnCount() throws {
        let authenticator = try Self.make()
        let copy = authenticator
        let counts = try (0..<18).map { try Self.parameters($0.isMultiple(of: 2) ? authenticator : copy)["nc"] }
        #expect(counts.first == "00000001" && counts[9] == "0000000a" && counts.last == "00000012")
    }

    @Test func concurrentAnswersHaveDifferentCounts() async throws {
        let authenticator = try Self.make()
        let values = await withTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { authenticator.answer(method: "GET", uri: "/").value } }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        let counts = Set(values.compactMap { AuthenticationChallenge.parse([$0]).first?.parameters["nc"] })
        #expect(counts.count == 200)
    }

    @Test func clientNoncesAreRandom() throws {
        let nonces = Set((0..<100).map { _ in DigestSession.randomNonce() })
        #expect(nonces.count == 100)
        #expect(nonces.allSatisfy { $0.utf8.count == 32 })
    }

    @Test func aSessionKeepsItsKey() throws {
        let credential = try Credential.password(username: "ada", password: "pass")
        let challenges: [AuthenticationChallenge] = .parse([
            "Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-256-sess"
        ])
        let authenticator = try #require(
            ChallengeResponder(
                credential, for: challenges, allowsBasic: false, makeClientNonce: DigestSession.randomNonce))
        let first = try Self.parameters(authenticator)
        let clientNonce = try #require(first["cnonce"])
        #expect(try Self.parameters(authenticator)["cnonce"] == clientNonce)
        // The next nonce belongs to the same session (section 3.4.2).
        let sent = authenticator.answer(method: "GET", uri: "/")
        try sent.verify(["nextnonce=m"])
        let next = try Self.parameters(authenticator)
        let key = testHash("SHA256", "\(Self.secret):n:\(clientNonce)")
        let a2 = testHash("SHA256", "GET:/")
        #expect(next["response"] == testHash("SHA256", "\(key):m:00000001:\(clientNonce):auth:\(a2)"))
    }

    @Test func theNextNonceStartsTheCountAgain() throws {
        let authenticator = try Self.make()
        let first = authenticator.answer(method: "GET", uri: "/")
        let second = authenticator.answer(method: "GET", uri: "/")
        try first.verify(["nextnonce=\"m\""])
        let parameters = try Self.parameters(authenticator)
        #expect(parameters["nonce"] == "m" && parameters["nc"] == "00000001")
        // The response to an earlier request does not replace it.
        try second.verify(["nextnonce=\"o\""])
        #expect(try Self.parameters(authenticator)["nonce"] == "m")
    }

    @Test func aHostileNextNonceIsIgnored() throws {
        let authenticator = try Self.make()
        let sent = authenticator.answer(method: "GET", uri: "/")
        for nonce in [String(repeating: "x", count: 5000), "a\u{1}b"] {
            try sent.verify(["nextnonce=\"\(nonce)\""])
        }
        #expect(try Self.parameters(authenticator)["nonce"] == "n")
    }

    @Test(arguments: [
        ["rspauth=\"\(proof())\", qop=auth, nc=00000001, cnonce=\"cn\""], ["rspauth=\"\(proof().uppercased())\""],
        ["qop=auth", "rspauth=\"\(proof())\""], [], [""], ["qop=auth"], ["nextnonce=\"m\""], ["junk"],
        // The proof of auth-int covers the body.
        ["rspauth=\"unknown\", qop=auth-int"],
    ])
    func aRightProofIsAccepted(fields: [String]) throws {
        let authenticator = try Self.make()
        try authenticator.answer(method: "POST", uri: "/").verify(fields)
    }

    @Test(arguments: [
        proof(count: "00000002"), proof(nonce: "m"), proof(uri: "/other"), "", "0", String(repeating: "0", count: 64),
    ])
    func aWrongProofIsAnError(proof: String) throws {
        let authenticator = try Self.make()
        let sent = authenticator.answer(method: "GET", uri: "/")
        let error = #expect(throws: AuthenticationError.self) {
            try sent.verify(["rspauth=\"\(proof)\", nextnonce=\"m\""])
        }
        #expect(error?.code == .wrongServerProof)
        // Its nonce is not used either.
        #expect(try Self.parameters(authenticator)["nonce"] == "n")
    }

    @Test(arguments: [
        ("Digest realm=lab, nonce=m, qop=auth, algorithm=SHA-256, stale=true", true),
        ("Basic realm=lab, Digest realm=lab, nonce=m, qop=auth, algorithm=SHA-512-256, stale=\"TRUE\"", true),
        ("Digest realm=lab, nonce=m, qop=auth, algorithm=SHA-256, stale=false", false),
        ("Digest realm=lab, nonce=m, qop=auth, algorithm=SHA-256", false),
        // A nonce that was just used is not a new one, another realm is another question, and Basic has no nonce.
        ("Digest realm=lab, nonce=n, qop=auth, algorithm=SHA-256, stale=true", false),
        ("Digest realm=other, nonce=m, qop=auth, algorithm=SHA-256, stale=true", false),
        ("Digest realm=lab, nonce=m, qop=auth, algorithm=MD5, stale=true", false),
        ("Basic realm=lab, stale=true", false), ("", false),
    ])
    func aStaleNonceIsRenewed(field: String, isRenewed: Bool) throws {
        let authenticator = try Self.make()
        let sent = authenticator.answer(method: "GET", uri: "/")
        let renewed = authenticator.renewed(by: .parse([field]), after: sent)
        #expect((renewed != nil) == isRenewed)
        guard let renewed else { return }
        let parameters = try Self.parameters(renewed)
        #expect(parameters["nonce"] == "m" && parameters["nc"] == "00000001")
    }
}
