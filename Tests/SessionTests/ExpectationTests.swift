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
            func text(_ text: String) -> HTTPRequestBody { .data(Data(text.utf8)) }
            let calls: [HTTPCall] = [
                client.get("/a"), client.post("/a").body(text("")), client.post("/a").body(text("1234567")),
                client.post("/a").body(text("12345678")), client.post("/a").body(stream),
                client.post("/a").body(text("12345678")).options { $0.continuePolicy = .never },
                client.post("/a").body(text("1")).options { $0.continuePolicy = .always },
            ]
            for call in calls { _ = try await call.response() }
            let expected: [String?] = [nil, nil, nil, "100-continue", "100-continue", nil, "100-continue"]
            #expect(server.recordedRequests.map { $0.headerFields[.expect] } == expected)
            #expect(server.recordedRequests.map(\.bodyText).filter { $0 == "streamed" }.count == 1)
        }
    }

    /// A body that the program's own code adds to a request without one.
    @Test(arguments: ["adapter", "authenticator"])
    func anAddedBodyIsAnnounced(by adding: String) async throws {
        struct Adding: RequestAdapter, Authenticator {
            func adapt(_ request: SessionRequest) -> SessionRequest {
                var request = request
                request.body = .data(Data("added".utf8))
                return request
            }

            func apply(_ credential: Int, to request: inout SessionRequest) { request = adapt(request) }

            func renew(_ credential: Int?) -> Int { 1 }
        }
        try await withMockServer {
            .text($0.bodyText)
        } perform: { server in
            let client = try HTTPSession(baseURL: server.url) {
                $0.continuePolicy = .always
                $0.continueTimeout = .seconds(600)
                if adding == "adapter" {
                    $0.requestAdapters = [Adding()]
                } else {
                    $0.authenticator = .renewing(RenewableCredential(Adding(), 1, for: [try Origin(server.url)]))
                }
            }
            let response = try await client.post("/a").response()
            #expect(String(decoding: response.value, as: UTF8.self) == "added")
            #expect(server.recordedRequests.map { $0.headerFields[.expect] } == ["100-continue"])
            await client.shutdown()
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
