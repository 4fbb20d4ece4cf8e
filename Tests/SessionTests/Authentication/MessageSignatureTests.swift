import FoundationEssentials
import HTTPTypes
import LinnetAuthentication
import LinnetMessages
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Testing

@testable import LinnetSession

/// Requests with HTTP Message Signatures (RFC 9421), which are verified as the server received them.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct MessageSignatureTests {
    private static let secret = Data((0..<32).map { UInt8($0) })

    private static func key() throws -> SignatureKey { try .hmacSHA256(secret) }

    /// The request as its receiver sees it.
    private static func message(_ request: RecordedRequest, at url: URL) throws -> SignableMessage {
        let text = "\(try Origin(url))\(request.target)"
        return SignableMessage(
            method: request.method, target: try RequestTarget(parsing: text), fields: request.headerFields)
    }

    @Test(arguments: Version.allCases)
    func theServerVerifiesEachRequest(version: Version) async throws {
        try await withMockServer(
            routes: MockServer.Routes {
                $0.on("/a", .redirect(to: "/b?c=d&e=%20"))
                $0.on("/*", .text("b"))
            }, configuration: .init { $0.httpVersions = version.ofServer }
        ) { server in
            let components: [SignatureComponent] = [
                .method, .targetURI, .authority, .path, .query, .requestTarget, .scheme, .contentDigest,
                .field(.acceptEncoding, as: .list), .field(.userAgent),
            ]
            let signer = try MessageSigner(
                Self.key(), covering: components, keyID: "k", lifetime: .seconds(300), hasAlgorithm: true,
                hasNonce: true)
            let client = try HTTPSession(baseURL: server.url) {
                $0.httpVersions = version.ofClient
                $0.headerFields = [.userAgent: "Finch/1.2"]
                $0.requestSigner = .messageSignature(signer, for: [try Origin(server.url)])
            }
            let body = Data("{\"hello\": \"world\"}".utf8)
            _ = try await client.post("/a").body(.data(body)).response()
            _ = try await client.put("/d").body(.data(body)).response()
            await client.shutdown()
            let verifier = MessageSignatureVerifier(try Self.key())
            var nonces: Set<String> = []
            for request in server.recordedRequests {
                let result = try verifier.verify("sig1", of: Self.message(request, at: server.url), at: Date())
                #expect(result.components.count == components.count)
                #expect(request.headerFields[values: .signature].count == 1)
                let hash =
                    request.body.isEmpty
                    ? "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" : "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="
                #expect(request.headerFields[.contentDigest] == "sha-256=:\(hash):")
                nonces.insert(request.headerFields[.signatureInput] ?? "")
            }
            // POST, GET after the redirect, PUT.
            #expect(server.recordedRequests.map(\.body.isEmpty) == [false, true, false] && nonces.count == 3)
        }
    }

    /// A digest and a signature of the program are kept.
    @Test func fieldsOfTheRequestAreKept() async throws {
        let stub = StubTransport()
        let origin = try #require(Origin("http://example.com"))
        let signer = try MessageSigner(Self.key(), covering: [.contentDigest], digestAlgorithm: .sha512)
        let session = try makeClient(stub) { $0.requestSigner = .messageSignature(signer, for: [origin]) }
        _ = try await session.post("a").header(.contentDigest, "sha-256=:AQID:").header(.signature, "a=:AQID:")
            .response()
        _ = try await session.post("a").response()
        let fields = stub.requests.map(\.head.headerFields)
        #expect(fields[0][.contentDigest] == "sha-256=:AQID:")
        #expect(fields[0][values: .signature].first == "a=:AQID:" && fields[0][values: .signature].count == 2)
        #expect(fields[1][.contentDigest]?.hasPrefix("sha-512=:z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/") == true)
    }

    @Test func aRequestWithoutACoveredFieldIsNotSent() async throws {
        let stub = StubTransport()
        let origin = try #require(Origin("http://example.com"))
        let signer = try MessageSigner(Self.key(), covering: [.method, .field(.date)])
        let session = try makeClient(stub) { $0.requestSigner = .messageSignature(signer, for: [origin]) }
        let error = await sessionError { try await session.get("a").response() }
        #expect(error?.code == .signingFailed && stub.requests.isEmpty)
        #expect((error?.underlying as? AuthenticationError)?.code == .missingComponent)
        _ = try await session.get("a").header(.date, "Tue, 20 Apr 2021 02:07:55 GMT").response()
        #expect(stub.requests.count == 1)
    }
}
