import FoundationEssentials
import HTTPTypes
import LinnetCompression
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

/// RFC 9110, section 12.5.3.
@Suite("The codings that a session asks for", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct AcceptEncodingTests {
    private let content = Data(longText.utf8)

    private func sent(_ server: MockServer) -> [String] {
        server.recordedRequests.map { $0.headerFields[values: .acceptEncoding].joined(separator: "|") }
    }

    @Test(arguments: Version.allCases, Surface.allCases)
    func requestsAskForTheCodingsOfTheSession(version: Version, surface: Surface) async throws {
        try await withMockClient(version, routes: { $0.on("/a", .json("1")) }) { session, server in
            _ = try await surface.send("/a", with: session).get()
            _ = try await surface.send("/a", method: .post, parameters: ["a": 1], with: session).get()
            #expect(sent(server) == ["gzip, deflate", "gzip, deflate"])
            #expect(session.headerFields.isEmpty)
        }
    }

    @Test func theOrderFollowsTheConfiguration() async throws {
        let configure: (inout HTTPSession.Configuration) -> Void = { $0.contentCodings = [.deflate, .gzip, .deflate] }
        try await withMockClient(configure: configure, routes: { $0.on("/a", .json("1")) }) { session, server in
            _ = try await session.get("/a").data()
            #expect(sent(server) == ["deflate, gzip"])
        }
    }

    @Test func withoutCodingsNoFieldIsSentAndNothingDecoded() async throws {
        let response = try MockResponse.coded(content)
        try await withMockClient(configure: { $0.contentCodings = [] }, routes: { $0.on("/a", response) }) {
            session, server in
            let received = try await session.get("/a").response()
            #expect(sent(server) == [""])
            #expect(received.value == (try ContentCoding.gzip.encoded(content)))
            #expect(received.head.headerFields[.contentEncoding] == "gzip")
            #expect(received.contentCodings.isEmpty)
        }
    }

    /// A caller that names codings decodes them.
    @Test func aCallsFieldIsSentAndItsResponseIsNotDecoded() async throws {
        let response = try MockResponse.coded(content)
        try await withMockClient(routes: { $0.on("/a", response) }) { session, server in
            let received = try await session.get("/a").header(.acceptEncoding, "gzip;q=0.5").response()
            #expect(received.value == (try ContentCoding.gzip.encoded(content)))
            #expect(received.head.headerFields[.contentEncoding] == "gzip")
            #expect(received.head.headerFields[.contentLength] == String(received.value.count))
            #expect(received.contentCodings.isEmpty)
            session.setHeader(.acceptEncoding, "br")
            #expect(try await session.get("/a").data() == received.value)
            session.setHeader(.acceptEncoding, nil)
            #expect(try await session.get("/a").data() == content)
            #expect(sent(server) == ["gzip;q=0.5", "br", "gzip, deflate"])
        }
    }

    @Test func aFieldOfASerializerIsSent() async throws {
        for serializer in [FormRequestSerializer(headerFields: [.acceptEncoding: "br"])] as [any RequestSerializer]
            + [JSONRequestSerializer(headerFields: [.acceptEncoding: "br"])]
        {
            try await withMockClient(
                configure: { $0.requestSerializer = serializer }, routes: { $0.on("/a", .json("1")) }
            ) {
                session, server in
                _ = try await session.get("/a").data()
                _ = try await session.get("/a").requestSerializer(.form).data()
                #expect(sent(server) == ["br", "gzip, deflate"])
            }
        }
    }

    /// The shared table of header fields has the serializer's fields, which others still replace.
    @Test func fieldsOfTheSessionAndTheCallReplaceTheSerializers() async throws {
        let serializer = FormRequestSerializer(headerFields: [.userAgent: "serializer", .acceptLanguage: "de"])
        try await withMockClient(
            configure: {
                $0.requestSerializer = serializer
                $0.headerFields = [.userAgent: "session"]
            }, routes: { $0.on("/a", .json("1")) }
        ) { session, server in
            _ = try await session.get("/a").data()
            session.setHeader(.userAgent, nil)
            _ = try await session.get("/a").header(.acceptLanguage, "fr").data()
            let fields = server.recordedRequests.map(\.headerFields)
            #expect(fields.map { $0[values: .userAgent] } == [["session"], ["serializer"]])
            #expect(fields.map { $0[values: .acceptLanguage] } == [["de"], ["fr"]])
            #expect(session.headerFields.isEmpty)
        }
    }

    /// The accepted codings lead to the same bytes as none.
    @Test func aResponseIsDecodedInSpiteOfIdentity() async throws {
        let response = try MockResponse.coded(content)
        try await withMockClient(routes: { $0.on("/a", response) }) { session, server in
            let body = try await session.get("/a").header(.acceptEncoding, "identity").data()
            #expect(body == content)
            #expect(sent(server) == ["identity"])
        }
    }

    /// A part of coded bytes cannot be decoded (RFC 9110, section 14.1.2).
    @Test func aRangeRefersToTheUndecodedBytes() async throws {
        let part = MockResponse.claiming(
            "gzip", Data("0123".utf8), [.contentRange: "bytes 4-7/9"], status: .partialContent)
        try await withMockClient(routes: { $0.on("/a", part) }) { session, server in
            let received = try await session.get("/a").header(.range, "bytes=4-7").response()
            #expect(received.value == Data("0123".utf8))
            #expect(received.head.headerFields[.contentEncoding] == "gzip")
            #expect(received.head.headerFields[.contentLength] == "4")
            _ = try await session.get("/a").headers([.range: "bytes=4-7", .acceptEncoding: "br"]).response()
            #expect(sent(server) == ["identity", "br"])
        }
    }

    @Test func aGivenRequestAcceptsTheCodings() async throws {
        try await withMockClient(routes: { $0.on("/a", .json("1")) }) { session, server in
            _ = try await session.call(SessionRequest(url: server.url("/a"))).data()
            _ = try await session.call(
                SessionRequest(url: server.url("/a"), headerFields: [.acceptEncoding: "br"])
            ).data()
            #expect(sent(server) == ["gzip, deflate", "br"])
        }
    }

    @Test func aSessionThatSharesConnectionsAcceptsTheSameCodings() async throws {
        try await withMockClient(configure: { $0.contentCodings = [.deflate] }, routes: { $0.on("/a", .json("1")) }) {
            session, server in
            let other = try HTTPSession(baseURL: server.url, sharing: session)
            _ = try await other.get("/a").data()
            #expect(sent(server) == ["deflate"])
        }
    }

    @Test func curlAndTheSessionDecodeTheSame() throws {
        let session = try makeClient()
        let command = try session.get("a").curlDescription()
        #expect(command.contains(" --compressed ") && command.contains("'Accept-Encoding: gzip, deflate'"))
        let own = try session.get("a").header(.acceptEncoding, "br").curlDescription()
        #expect(!own.contains("--compressed") && own.contains("'Accept-Encoding: br'"))
        let part = try session.get("a").header(.range, "bytes=0-3").curlDescription()
        #expect(!part.contains("--compressed") && part.contains("'Accept-Encoding: identity'"))
    }
}
