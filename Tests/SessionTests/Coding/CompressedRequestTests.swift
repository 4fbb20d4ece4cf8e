import FoundationEssentials
import HTTPTypes
import LinnetCompression
import LinnetMultipart
import LinnetSerialization
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetSession

@Suite("Requests with content codings", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CompressedRequestTests {
    private let content = Data(longText.utf8)

    private struct Pieces: HTTPRequestBodyReader {
        var left: Int

        mutating func next() async throws -> Data? {
            guard left > 0 else { return nil }
            left -= 1
            return Data(longText.utf8)
        }
    }

    @Test(arguments: Version.allCases) func aBodyInMemoryIsEncodedWithItsLength(version: Version) async throws {
        try await withMockClient(version, routes: { $0.on("/a", .status(.ok)) }) { session, server in
            _ = try await session.post("/a").body(.data(content), contentType: "text/plain").compressed(with: .gzip)
                .data()
            _ = try await session.post("/a", json: ["a": longText]).compressed(with: .deflate).data()
            let sent = server.recordedRequests
            #expect(try ContentCoding.gzip.decoded(sent[0].body) == content)
            #expect(
                sent[0].headerFields[.contentEncoding] == "gzip" && sent[0].headerFields[.contentType] == "text/plain")
            #expect(sent[0].headerFields[.contentLength] == String(sent[0].body.count) && sent[0].body.count < 2000)
            #expect(try ContentCoding.deflate.decoded(sent[1].body) == Data(#"{"a":"\#(longText)"}"#.utf8))
            #expect(sent[1].headerFields[.contentEncoding] == "deflate")
        }
    }

    @Test(arguments: Version.allCases) func aStreamIsEncodedWhileItIsSent(version: Version) async throws {
        let body = HTTPRequestBody.stream(length: Int64(100 * content.count), isReplayable: true) { Pieces(left: 100) }
        try await withMockClient(version, routes: { $0.on("/a", .status(.ok)) }) { session, server in
            _ = try await session.post("/a").body(body).compressed(with: .gzip).data()
            let sent = try #require(server.recordedRequests.first)
            #expect(sent.headerFields[.contentLength] == nil && sent.headerFields[.contentEncoding] == "gzip")
            #expect(try ContentCoding.gzip.decoded(sent.body) == Data(Array(repeating: content, count: 100).joined()))
        }
    }

    @Test func filesFormsAndLongBytesAreEncodedWhileTheyAreSent() async throws {
        let long = makeBytes(3 << 20)
        try await withScratchFolder { folder in
            try long.write(to: folder["file"])
            var form = try MultipartForm(boundary: "b")
            form.append("linnet", name: "finch")
            try await withMockClient(routes: { $0.on("/a", .status(.ok)) }) { session, server in
                _ = try await session.put("/a").body(file: folder["file"]).compressed(with: .gzip).data()
                _ = try await session.put("/a").body(.data(long)).compressed(with: .gzip).data()
                _ = try await session.post("/a").body(form: form).compressed(with: .gzip).data()
                let sent = server.recordedRequests
                #expect(
                    sent.allSatisfy {
                        $0.headerFields[.contentEncoding] == "gzip" && $0.headerFields[.contentLength] == nil
                    })
                let bodies = try sent.map { try ContentCoding.gzip.decoded($0.body) }
                #expect(bodies[0] == long && bodies[1] == long)
                #expect(String(decoding: bodies[2], as: UTF8.self).contains("linnet"))
            }
        }
    }

    @Test func aBodyIsReplayedIfItCouldBeBefore() async throws {
        let replayable = HTTPRequestBody.stream(length: nil, isReplayable: true) { Pieces(left: 2) }
        let once = HTTPRequestBody.stream(length: nil, isReplayable: false, replayObstacle: "it is a pipe") {
            Pieces(left: 2)
        }
        try await withMockClient {
            $0.on("/a", .redirect(to: "/b", status: .temporaryRedirect))
            $0.on("/b", .status(.ok))
        } perform: { session, server in
            _ = try await session.post("/a").body(replayable).compressed(with: .gzip).data()
            let sent = server.recordedRequests
            #expect(sent.count == 2 && sent[1].headerFields[.contentEncoding] == "gzip")
            #expect(try ContentCoding.gzip.decoded(sent[1].body) == content + content)
            let error = await sessionError { try await session.post("/a").body(once).compressed(with: .gzip).data() }
            #expect(error?.code == .requestBodyFailed && error?.message.contains("it is a pipe") == true)
        }
    }

    /// A redirect that makes it a GET leaves out the fields of the body.
    @Test func aRequestWithoutABodyHasNoCoding() async throws {
        try await withMockClient {
            $0.on("/a", .redirect(to: "/b", status: .seeOther))
            $0.on("/b", .status(.ok))
        } perform: { session, server in
            _ = try await session.post("/a").body(.data(content)).compressed(with: .gzip).data()
            _ = try await session.get("/b").compressed(with: .gzip).data()
            _ = try await session.post("/b").compressed(with: .gzip).data()
            _ = try await session.post("/b").body(.data(content)).compressed(with: .gzip).compressed(with: nil).data()
            let sent = server.recordedRequests
            #expect(sent.map { $0.headerFields[.contentEncoding] } == ["gzip", nil, nil, nil, nil])
            #expect(sent.last?.body == content)
        }
    }

    @Test func codingsOfTheBodyAreNamedFirst() throws {
        let session = try makeClient()
        let call = session.post("a").body(.data(content)).header(.contentEncoding, "x").compressed(with: .gzip)
        #expect(try call.request().headerFields[.contentEncoding] == "x, gzip")
    }

    @Test func aCodingWithoutAnEncoderIsAnError() throws {
        let coding = ContentCoding("x") { () throws(CompressionError) -> any ContentTransform in
            throw CompressionError(code: .libraryFailed, message: "There is none.")
        }
        let session = try makeClient()
        for body in [HTTPRequestBody.data(content), .stream(length: nil, isReplayable: true) { Pieces(left: 1) }] {
            let error = #expect(throws: SessionError.self) {
                try session.post("a").body(body).compressed(with: coding).request()
            }
            #expect(error?.code == .encodingFailed && error?.compressionCode == .noEncoder)
        }
    }
}
