import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

/// `Expect: 100-continue` (RFC 9110, section 10.1.1), which a program sets for a request or for all of a session.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ExpectationTests {
    @Test(arguments: Version.allCases)
    func aRequestWithoutContentExpectsNothing(version: Version) async throws {
        try await withMockClient(version) {
            $0.headerFields = [.expect: "100-continue"]
            // Longer than the test may take.
            $0.continueTimeout = .seconds(600)
        } routes: {
            $0.on("/a") { .text($0.bodyText) }
        } perform: { client, server in
            _ = try await client.get("/a").response()
            _ = try await client.post("/a").body(.data(Data())).response()
            let response = try await client.post("/a").body(.data(Data("content".utf8))).response()
            #expect(String(decoding: response.value, as: UTF8.self) == "content")
            #expect(server.recordedRequests.map { $0.headerFields[.expect] } == [nil, nil, "100-continue"])
        }
    }

    @Test func aRefusedBodyIsNotSent() async throws {
        try await withMockServer(configuration: .init { ($0.sendsContinue, $0.requestBodies) = (false, .streamed) }) {
            _ in
            MockResponse(status: .expectationFailed, closesConnection: true)
        } perform: { server in
            let client = try HTTPSession(baseURL: server.url) { $0.continueTimeout = .seconds(600) }
            let call = client.post("/a").body(.data(Data("content".utf8))).header(.expect, "100-continue")
            let response = try await call.bytes(validation: .none)
            #expect(response.status == .expectationFailed)
            _ = try await response.body.collect(upTo: 1_000)
            #expect(response.metrics.last?.requestBodyBytes == 0)
            await client.shutdown()
        }
    }

    @Test func thePolicyAnnouncesBodiesByTheirLength() async throws {
        try await withMockClient {
            $0.continuePolicy = .bodies(ofAtLeast: 8)
            $0.continueTimeout = .seconds(600)
        } routes: {
            $0.on("/a") { .text($0.bodyText) }
        } perform: { client, server in
            let stream = HTTPRequestBody.stream(length: nil, isReplayable: false) { OnePiece(Data("streamed".utf8)) }
            func expectation(_ body: HTTPRequestBody?, _ policy: ContinuePolicy? = nil) async throws -> String? {
                var call = client.post("/a")
                if let body { call = call.body(body) }
                if let policy { call = call.options { $0.continuePolicy = policy } }
                _ = try await call.response()
                return server.recordedRequests.last?.headerFields[.expect]
            }
            func text(_ text: String) -> HTTPRequestBody { .data(Data(text.utf8)) }
            let byLength = [
                try await expectation(nil), try await expectation(text("")), try await expectation(text("1234567")),
                try await expectation(text("12345678")), try await expectation(stream),
            ]
            #expect(byLength == [nil, nil, nil, "100-continue", "100-continue"])
            #expect(server.recordedRequests.last?.bodyText == "streamed")
            let never = try await expectation(text("12345678"), .never)
            let always = try await expectation(text("1"), .always)
            #expect(never == nil && always == "100-continue")
        }
    }

    private struct OnePiece: HTTPRequestBodyReader {
        var piece: Data?
        init(_ piece: Data) { self.piece = piece }

        mutating func next() async throws -> Data? {
            defer { piece = nil }
            return piece
        }
    }

    /// RFC 9110, 10.1.1: the request is repeated without the expectation, and its body is sent once.
    @Test func aServerWithoutExpectationsGetsTheRequestWithoutOne() async throws {
        try await withMockServer(configuration: .init { ($0.sendsContinue, $0.requestBodies) = (false, .streamed) }) {
            request in
            guard request.headerFields[.expect] == nil else {
                return MockResponse(status: .expectationFailed, closesConnection: true)
            }
            var body = Data()
            do {
                for try await piece in request.chunks { body += piece }
            } catch {
                return .status(.badRequest)
            }
            return .text(String(decoding: body, as: UTF8.self))
        } perform: { server in
            let client = try HTTPSession(baseURL: server.url) {
                $0.continuePolicy = .always
                $0.continueTimeout = .seconds(600)
            }
            let response = try await client.post("/a").body(.data(Data("content".utf8))).response()
            #expect(String(decoding: response.value, as: UTF8.self) == "content")
            #expect(response.metrics.map(\.requestBodyBytes) == [0, 7])
            #expect(server.recordedRequests.count == 2)
            // The program's own expectation is sent unchanged.
            let own = try await client.post("/a").body(.data(Data("content".utf8))).header(.expect, "100-continue")
                .bytes(validation: .none)
            #expect(own.status == .expectationFailed)
            _ = try await own.body.collect(upTo: 1_000)
            #expect(server.recordedRequests.count == 3)
            await client.shutdown()
        }
    }

    @Test func policiesAreCoded() throws {
        for policy in [ContinuePolicy.never, .always, .bodies(ofAtLeast: 1_048_576)] {
            let data = try JSONEncoder().encode([policy])
            #expect(try JSONDecoder().decode([ContinuePolicy].self, from: data) == [policy])
        }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([ContinuePolicy].self, from: Data("[-1]".utf8)) }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ContinuePolicy].self, from: Data("[true]".utf8))
        }
    }
}
