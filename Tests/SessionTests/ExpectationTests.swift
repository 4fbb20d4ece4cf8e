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
            let response = try await call.bytes()
            #expect(response.status == .expectationFailed)
            _ = try await response.body.collect(upTo: 1_000)
            #expect(response.metrics.last?.requestBodyBytes == 0)
            await client.shutdown()
        }
    }
}
