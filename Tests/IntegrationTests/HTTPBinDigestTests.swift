import FoundationEssentials
import HTTPTypes
import Linnet
import Testing

/// Digest with httpbin, a server side independent of Linnet.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTPBinDigestTests {
    /// A store that has the user's password for all realms of httpbin.
    private static func store(_ password: String = "passwd", allowsMD5: Bool = true) throws -> CredentialStore {
        let store = CredentialStore()
        let credential = try Credential.password(username: "user", password: password, allowsMD5: allowsMD5)
        store.set(credential, for: ProtectionSpace(origin: try Origin(Server.httpbin.url)))
        return store
    }

    @Test(arguments: ["auth", "auth-int", "both"], ["MD5", "SHA-256"])
    func theAnswerIsAcceptedAndItsNonceUsedAgain(qop: String, algorithm: String) async throws {
        let store = try Self.store()
        try await Server.httpbin.withSession {
            $0.credentialStore = store
        } run: { session in
            for attempts in [2, 1, 1] {
                let path = "digest-auth/\(qop)/user/passwd/\(algorithm)"
                let response = try await session.get(path).response(JSONResponseSerializer())
                #expect(response.value == ["authenticated": true, "user": "user"])
                #expect(response.metrics.count == attempts)
            }
        }
    }

    @Test(arguments: Surface.allCases)
    func anExpiredNonceIsRenewed(surface: Surface) async throws {
        let store = try Self.store(allowsMD5: false)
        let jar = CookieJar()
        try await Server.httpbin.withSession {
            $0.credentialStore = store
            $0.cookieJar = jar
        } run: { session in
            // httpbin counts in a cookie: each nonce is stale after one answer.
            for _ in 0..<3 {
                let response = try await surface.send(.get, "digest-auth/auth/user/passwd/SHA-256/1", on: session)
                #expect(response.value == ["authenticated": true, "user": "user"])
                #expect(response.metrics.count == 2)
            }
        }
    }

    @Test(arguments: [("MD5", false, 1), ("SHA-512", true, 1), ("SHA-256", true, 2)])
    func otherwiseTheChallengeIsTheResponse(algorithm: String, allowsMD5: Bool, attempts: Int) async throws {
        let store = try Self.store("wrong", allowsMD5: allowsMD5)
        try await Server.httpbin.withSession {
            $0.credentialStore = store
        } run: { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("digest-auth/auth/user/passwd/\(algorithm)").response()
            }
            #expect(error?.head?.status == .unauthorized)
            #expect(error?.metrics.count == attempts)
        }
    }
}
