import FoundationEssentials
import HTTPTypes
import LinnetAuthentication
import LinnetCache
import LinnetMessages
import LinnetSession
import LinnetTesting
import Testing

/// A field value is octets (RFC 9110, 5.5): values that are compared, sent back or made into a URL keep octets that are
/// not UTF-8.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct FieldOctetTests {
    /// The characters of ISO 8859-1 as octets.
    private static func octets(_ text: String) -> Data {
        Data(text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    /// Answers requests in order, and returns their heads as characters of ISO 8859-1. Each response is all but its
    /// last fields.
    private func requests(
        _ responses: [String], configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
        perform: (HTTPSession) async throws -> Void
    ) async throws -> [String] {
        let heads = EventRecorder<String>()
        let server = try await MockServer.startRaw { connection in
            for response in responses {
                let head = try await connection.read()
                heads.record(String(String.UnicodeScalarView((head ?? Data()).map { Unicode.Scalar($0) })))
                try await connection.write(Self.octets("HTTP/1.1 \(response)\r\nContent-Length: 0\r\n\r\n"))
            }
        }
        do {
            let session = try HTTPSession(baseURL: server.url) { try configure(&$0) }
            try await perform(session)
            await session.shutdown()
        }
        await server.shutdown()
        return heads.events
    }

    @Test(arguments: [
        ("/caf\u{e9}", "/caf%E9"), ("/caf\u{c3}\u{a9}", "/caf%C3%A9"), ("/a?b=\u{e9}#\u{e8}", "/a?b=%E9"),
    ])
    func aRedirectGoesToTheOctetsOfItsLocation(location: String, path: String) async throws {
        let heads = try await requests(["302 Found\r\nLocation: \(location)", "200 OK"]) { session in
            _ = try await session.get("/").response()
        }
        #expect(heads.count == 2)
        #expect(heads.last?.hasPrefix("GET \(path) HTTP/1.1\r\n") == true)
    }

    @Test(arguments: ["http://good.example\\@evil.example/", "//a@b@evil.example/"])
    func aRedirectWithAmbiguousUserInformationIsRefused(location: String) async throws {
        _ = try await requests(["302 Found\r\nLocation: \(location)"]) { session in
            let error = await #expect(throws: SessionError.self) { try await session.get("/").response() }
            #expect(error?.code == .redirectRefused)
        }
    }

    @Test func twoLocationsThatDifferInAnOctetAreRefused() async throws {
        let response = "302 Found\r\nLocation: /\u{e9}\r\nLocation: /\u{e8}"
        _ = try await requests([response]) { session in
            let error = await #expect(throws: SessionError.self) { try await session.get("/").response() }
            #expect(error?.code == .redirectRefused)
        }
    }

    @Test(arguments: ["\"\u{e9}\"", "W/\"\u{c3}\u{a9}\"", "\"e\u{cc}\u{81}\""])
    func anEntityTagIsSentBackAsItCame(tag: String) async throws {
        let fields = "ETag: \(tag)\r\nCache-Control: no-cache"
        let heads = try await requests(["200 OK\r\n\(fields)", "304 Not Modified\r\n\(fields)"]) {
            $0.cacheStore = MemoryCacheStore()
        } perform: { session in
            _ = try await session.get("/").response()
            let response = try await session.get("/").response()
            #expect(response.head.status == .ok)
        }
        #expect(heads.last?.contains("If-None-Match: \(tag)\r\n") == true)
    }

    @Test func aConfirmationOfAnotherTagConfirmsNothing() async throws {
        let (first, second) = ("ETag: \"\u{e9}\"\r\nCache-Control: no-cache", "ETag: \"\u{e8}\"")
        let heads = try await requests(["200 OK\r\n\(first)", "304 Not Modified\r\n\(second)", "200 OK"]) {
            $0.cacheStore = MemoryCacheStore()
        } perform: { session in
            _ = try await session.get("/").response()
            _ = try await session.get("/").response()
        }
        // The 304 response is of a version that is not stored, so the request is sent again without conditions.
        #expect(heads.count == 3)
        #expect(heads.last?.contains("If-None-Match") == false)
    }

    @Test(arguments: [("caf\u{e9}", "caf\u{e9}"), ("caf\u{c3}\u{a9}", "caf\u{e9}")])
    func aDigestRealmIsHashedAndSentBackAsItCame(realm: String, text: String) async throws {
        let credentials = CredentialStore()
        let challenge =
            "Digest realm=\"\(realm)\", nonce=\"n\u{e9}\", opaque=\"\u{ff}\", algorithm=SHA-256, qop=auth"
        let heads = try await requests(["401 Unauthorized\r\nWWW-Authenticate: \(challenge)", "200 OK"]) {
            $0.credentialStore = credentials
        } perform: { session in
            let origin = try Origin(#require(session.baseURL))
            credentials.set(
                try .password(username: "ada", password: "pass"), for: ProtectionSpace(origin: origin, realm: text))
            let response = try await session.get("/").response()
            #expect(response.head.status == .ok)
        }
        let answer = try #require(heads.last?.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") })
        #expect(answer.contains("realm=\"\(realm)\", nonce=\"n\u{e9}\""))
        #expect(answer.contains("opaque=\"\u{ff}\""))
    }
}
