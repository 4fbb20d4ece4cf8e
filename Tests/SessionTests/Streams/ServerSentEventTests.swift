import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

/// Parsing of a stream into events (WHATWG HTML, sections 9.2.5 and 9.2.6, whose examples are among these).
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ServerSentEventTests {
    private typealias Event = ServerSentEvent

    static let streams: [(text: String, events: [ServerSentEvent])] = [
        ("data: a\n\n", [ServerSentEvent(data: "a")]),
        ("data: a", []),
        ("data: a\n", []),
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerSentEvent(data: "YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [
                ServerSentEvent(data: "first event", lastEventID: "1"), ServerSentEvent(data: "second event"),
                ServerSentEvent(data: " third event"),
            ]
        ),
        ("data\n\ndata\ndata\n\ndata:", [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]),
        ("data:test\n\ndata: test\n\n", [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")]),
        ("event: add\ndata: 1\n\ndata: 2\n\n", [ServerSentEvent(type: "add", data: "1"), ServerSentEvent(data: "2")]),
        // Without data there is no event, and its type does not last.
        ("event: add\n\ndata: 1\n\n", [ServerSentEvent(data: "1")]),
        // An ID without data counts all the same.
        ("id: 7\n\ndata: 1\n\n", [ServerSentEvent(data: "1", lastEventID: "7")]),
        ("id: 7\ndata: 1\n\nid: 8", [ServerSentEvent(data: "1", lastEventID: "7")]),
        (
            "id: 7\ndata: 1\n\nid: a\u{0}b\ndata: 2\n\n",
            [
                ServerSentEvent(data: "1", lastEventID: "7"), ServerSentEvent(data: "2", lastEventID: "7"),
            ]
        ),
        ("\u{FEFF}data: a\n\n", [ServerSentEvent(data: "a")]),
        // Only one, and only at the start.
        ("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [ServerSentEvent(data: "b")]),
        ("data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n", [ServerSentEvent(data: "a"), ServerSentEvent(data: "c")]),
        (
            "data: a\r\rdata: b\r\n\r\ndata: c\r\n\n",
            [
                ServerSentEvent(data: "a"), ServerSentEvent(data: "b"), ServerSentEvent(data: "c"),
            ]
        ),
        ("Data: a\nunknown: b\n: c\n:\n\n", []),
        ("data: a: b\n\n", [ServerSentEvent(data: "a: b")]),
        ("retry: 10\ndata: a\n\n", [ServerSentEvent(data: "a")]),
    ]

    @Test(arguments: streams.indices, [1, 2, 1000])
    func aStreamBecomesEvents(index: Int, size: Int) async throws {
        let (text, events) = Self.streams[index]
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let response = try await session.call(makeRequest()).bytes()
        var rest = Data(text.utf8)
        while !rest.isEmpty {
            body.send(rest.prefix(size))
            rest = Data(rest.dropFirst(size))
        }
        body.finish()
        var seen: [ServerSentEvent] = []
        for try await event in response.body.serverSentEvents() { seen.append(event) }
        #expect(seen == events)
    }

    @Test func eventsArriveWhileTheyAreSent() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let task = try session.call(makeRequest()).streamTask()
        task.resume()
        var events = try await task.response.body.serverSentEvents().makeAsyncIterator()
        body.send("data: 1\n\n")
        #expect(try await events.next()?.data == "1")
        body.send("data: 2\n")
        body.send("\ndata: 3\n\n")
        #expect(try await events.next()?.data == "2")
        #expect(try await events.next()?.data == "3")
        body.finish()
        #expect(try await events.next() == nil)
    }

    @Test func onlyDigitsAreARetry() throws {
        var parser = ServerSentEventParser(limit: 100)
        for (line, retry) in [
            ("retry: 10", 10), ("retry: -1", 10), ("retry: 1.5", 10), ("retry:", 10), ("retry: 0", 0),
            ("retry: 99999999999999999999", 0),
        ] {
            let event = try parser.line(Array(line.utf8))
            #expect(event == nil)
            #expect(parser.retry == .milliseconds(retry), "\(line)")
        }
    }

    @Test func anEventMayNotBeLargerThanTheLimit() throws {
        var parser = ServerSentEventParser(limit: 10)
        _ = try parser.line(Array("data: 1234".utf8))
        let error = #expect(throws: SessionError.self) { try parser.line(Array("data: 56789".utf8)) }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test(arguments: ["data: 1\n\ndata: 123456789\n\n", "data: 1\n\ndata: 123456\ndata: 123456\n\n"])
    func aStreamEndsWithTheFirstEventBeyondTheLimit(text: String) async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data(text.utf8)) })
        let response = try await session.call(makeRequest()).bytes()
        var seen: [ServerSentEvent] = []
        let error = await sessionError {
            for try await event in response.body.serverSentEvents(upTo: 12) { seen.append(event) }
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(seen == [ServerSentEvent(data: "1")])
    }
}
