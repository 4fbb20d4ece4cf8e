import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

/// Scripts and events.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct MockServerScriptTests {
    private static let request = "GET /a HTTP/1.0\r\n\r\n"

    @Test func requestsGetTheResponsesInTheirOrder() async throws {
        try await withMockServer(MockServer.Script([.status(.serviceUnavailable), .text("hello")])) { server in
            let first = try await transcript(of: Self.request, port: server.port)
            #expect(first.hasPrefix("HTTP/1.1 503 "))
            let second = try await transcript(of: Self.request, port: server.port)
            #expect(second.hasSuffix("hello"))
        }
    }

    @Test func aRequestWithoutAResponseIsLoud() async throws {
        let script = MockServer.Script([])
        let error = await #expect(throws: TestingError.self) {
            try await withMockServer(script) { server in
                let answer = try await transcript(of: Self.request, port: server.port)
                #expect(answer.hasPrefix("HTTP/1.1 500 ") && answer.contains("GET /a"))
            }
        }
        #expect(error?.code == .scriptMismatch)
        #expect(error?.message == "Requests for which the script had no response left: 1, the first of them GET /a.")
        #expect(script.unanswered.map(\.path) == ["/a"])
    }

    @Test func aResponseThatIsLeftIsLoud() async throws {
        let script = MockServer.Script([.text("a")])
        script.append(.text("b"))
        let error = await #expect(throws: TestingError.self) {
            try await withMockServer(script) { _ = try await transcript(of: Self.request, port: $0.port) }
        }
        #expect(error?.code == .scriptMismatch && script.remaining == 1)
        #expect(error?.message == "Responses of the script that were not requested: 1.")
    }

    @Test func eventsAreSentAsTheirLines() async throws {
        let events: [MockResponse.Event] = [
            .init("one\ntwo", type: "a", id: "7", retry: .milliseconds(1500)), .init(""),
        ]
        let lines = "data: one\ndata: two\nevent: a\nid: 7\nretry: 1500\n\ndata: \n\n"
        try await withMockServer(.events(events)) { server in
            let text = try await transcript(of: Self.request, port: server.port)
            #expect(text.hasSuffix("\r\n\r\n" + lines) && text.contains("text/event-stream"))
        }
        let (stream, continuation) = AsyncStream.makeStream(of: MockResponse.Event.self)
        for event in events { continuation.yield(event) }
        continuation.finish()
        try await withMockServer(.events(stream)) { server in
            let text = try await transcript(of: Self.request, port: server.port)
            #expect(text.hasSuffix(lines))
        }
    }
}
