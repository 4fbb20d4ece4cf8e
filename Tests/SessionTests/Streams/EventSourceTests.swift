import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

/// A source of server-sent events is listened to over many connections.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct EventSourceTests {
    private static let stream: HTTPFields = [.contentType: "text/event-stream; charset=utf-8"]

    private static func events(_ text: String) -> StubTransport.Response {
        .status(200, headerFields: stream, body: Data(text.utf8))
    }

    /// Answers one after the other, then 204.
    private func makeTransport(_ answers: [Result<StubTransport.Response, TransportError>]) -> StubTransport {
        StubTransport { request in
            guard request.index < answers.count else { return .status(204) }
            return try answers[request.index].get()
        }
    }

    private func listen(
        _ transport: StubTransport, clock: any Clock<Duration>,
        _ configure: (inout EventSource.Options) -> Void = { _ in }
    ) throws -> EventSource {
        let options = EventSource.Options {
            $0.clock = clock
            configure(&$0)
        }
        return try HTTPSession(transport: transport).call(makeRequest("events")).serverSentEvents(options: options)
    }

    private func all(_ source: EventSource) async -> (events: [String], error: SessionError?) {
        var events: [String] = []
        let result = await Result { () async throws(SessionError) in
            for try await event in source { events.append(event.data) }
        }
        return (events, result.error)
    }

    @Test func aSourceReconnectsWithTheLastID() async throws {
        let clock = ManualClock()
        let transport = makeTransport([
            .success(Self.events("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: lost")),
            .success(Self.events("data: c\n\n")),
        ])
        let reading = Task { await all(try listen(transport, clock: clock)) }
        for delay in [Duration.seconds(3), .seconds(3)] {
            try await clock.waitForSleepers(count: 1)
            let due = try #require(clock.nextDeadline)
            #expect(due.offset - clock.now.offset == delay)
            clock.advance(by: delay)
        }
        let (events, error) = try await reading.value
        #expect(events == ["a", "b", "c"])
        #expect(error == nil)
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        #expect(transport.requests.map { $0.head.headerFields[name] } == [nil, "2", "2"])
        #expect(!transport.requests.isEmpty)
        #expect(transport.requests.allSatisfy { $0.head.headerFields[.accept] == "text/event-stream" })
        #expect(transport.requests.allSatisfy { $0.head.headerFields[.cacheControl] == "no-store" })
    }

    @Test func theServerDeterminesTheDelay() async throws {
        let clock = ManualClock()
        let transport = makeTransport([.success(Self.events("retry: 250\ndata: a\n\n"))])
        let reading = Task { await all(try listen(transport, clock: clock)) }
        try await clock.waitForSleepers(count: 1)
        #expect(clock.nextDeadline?.offset == .milliseconds(250))
        clock.advance(by: .milliseconds(250))
        #expect(try await reading.value.events == ["a"])
    }

    @Test func failedAttemptsWaitLongerAndLonger() async throws {
        let clock = ManualClock()
        let lost = Result<StubTransport.Response, TransportError>.failure(TransportError(.connectionFailed, "No."))
        let transport = makeTransport([lost, lost, lost, .success(Self.events("data: a\n\n")), lost])
        let reading = Task {
            await all(try listen(transport, clock: clock) { $0.maximumReconnectDelay = .seconds(10) })
        }
        for delay in [3, 6, 10, 3, 6] {
            try await clock.waitForSleepers(count: 1)
            let due = try #require(clock.nextDeadline)
            #expect(due.offset - clock.now.offset == .seconds(delay))
            clock.advance(by: .seconds(delay))
        }
        let (events, error) = try await reading.value
        #expect(events == ["a"])
        #expect(error == nil)
    }

    /// A quiet server that ends streams after a time is not asked less and less often.
    @Test func aStreamThatLastedStartsTheCountAgain() async throws {
        let clock = ManualClock()
        let body = StubTransport.Body()
        let lost = Result<StubTransport.Response, TransportError>.failure(TransportError(.connectionFailed, "No."))
        let transport = makeTransport([
            lost, lost, lost, .success(.stream(body, headerFields: Self.stream)), lost,
        ])
        let reading = Task {
            await all(
                try listen(transport, clock: clock) {
                    $0.reconnectDelay = .milliseconds(10)
                    $0.maximumReconnectDelay = .milliseconds(40)
                })
        }
        for (index, delay) in [10, 20, 40, 10, 20].enumerated() {
            if index == 3 {
                // Comments are no events. The stream has begun once some were read.
                while body.send(": comment\n") {}
                await body.waitForDemand()
                try await Task.sleep(for: .milliseconds(50))
                body.finish()
            }
            try await clock.waitForSleepers(count: 1)
            let due = try #require(clock.nextDeadline)
            #expect(due.offset - clock.now.offset == .milliseconds(delay))
            clock.advance(by: .milliseconds(delay))
        }
        #expect(try await reading.value.events.isEmpty)
    }

    /// The server has asked for no delay, and is gone.
    @Test func attemptsWithoutADelayOfTheServerWaitLongerAndLonger() async throws {
        let clock = ManualClock()
        let lost = Result<StubTransport.Response, TransportError>.failure(TransportError(.connectionFailed, "No."))
        let transport = makeTransport([.success(Self.events("retry: 0\ndata: a\n\n")), lost, lost])
        let reading = Task { await all(try listen(transport, clock: clock)) }
        // The first one is the least interval.
        for delay in [Duration.milliseconds(250), .seconds(1), .seconds(2)] {
            try await clock.waitForSleepers(count: 1)
            let due = try #require(clock.nextDeadline)
            #expect(due.offset - clock.now.offset == delay)
            clock.advance(by: delay)
        }
        #expect(try await reading.value.events == ["a"])
    }

    /// A server that asks for no delay, and ends each stream after an event.
    @Test func attemptsBeginAQuarterOfASecondApart() async throws {
        let clock = ManualClock()
        let streams = (0..<20).map { Result<_, TransportError>.success(Self.events("retry: 0\ndata: \($0)\n\n")) }
        let transport = makeTransport(streams)
        let reading = Task { await all(try listen(transport, clock: clock)) }
        for number in 1...20 {
            try await clock.waitForSleepers(count: 1)
            #expect(transport.requests.count == number)
            let due = try #require(clock.nextDeadline)
            #expect(due.offset - clock.now.offset == .milliseconds(250))
            clock.advance(by: .milliseconds(250))
        }
        #expect(try await reading.value.events == (0..<20).map(String.init))
    }

    /// A poll that lasted is followed by the next one at once, if the server wants it.
    @Test func theIntervalContainsTheStream() async throws {
        let clock = ManualClock()
        let body = StubTransport.Body()
        let transport = makeTransport([.success(.stream(body, headerFields: Self.stream))])
        let events = EventRecorder<String>()
        let reading = Task {
            for try await event in try listen(transport, clock: clock) { events.record(event.data) }
        }
        body.send("retry: 0\ndata: a\n\n")
        try await events.wait(count: 1)
        clock.advance(by: .milliseconds(250))
        body.finish()
        try await reading.value
        #expect(transport.requests.count == 2)
    }

    /// A proxy that compresses was killed: the stream ends within its coding.
    @Test func aStreamThatIsCutWithinItsCodingIsContinued() async throws {
        let clock = ManualClock()
        // gzip with one stored block, and without the block that would end it.
        let text = Array("id: 1\ndata: a\n\n".utf8)
        let count = UInt8(text.count)
        let block = [0x00, count, 0, ~count, 0xFF] + text
        let bytes = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + block
        var fields = Self.stream
        fields[.contentEncoding] = "gzip"
        let transport = makeTransport([
            .success(.status(200, headerFields: fields, body: Data(bytes))), .success(Self.events("data: b\n\n")),
        ])
        let reading = Task { await all(try listen(transport, clock: clock)) }
        for _ in 0..<2 {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(3))
        }
        let (events, error) = try await reading.value
        #expect(events == ["a", "b"])
        #expect(error == nil)
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        #expect(transport.requests.map { $0.head.headerFields[name] } == [nil, "1", "1"])
    }

    /// A field cannot contain an ID with a control character.
    @Test(arguments: ["\u{1}", "a\u{7F}", "a\u{B}b"])
    func anIDThatCannotBeSentIsNotSent(id: String) async throws {
        let clock = ManualClock()
        let transport = makeTransport([
            .success(Self.events("id: 1\ndata: a\n\nid: \(id)\ndata: b\n\n")),
            .success(Self.events("id: \u{E4}\ndata: b\n\n")),
        ])
        let reading = Task { await all(try listen(transport, clock: clock)) }
        for _ in 0..<2 {
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(3))
        }
        let (events, error) = try await reading.value
        #expect(events == ["a", "b", "b"])
        #expect(error == nil)
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        #expect(transport.requests.map { $0.head.headerFields[name] } == [nil, "1", "\u{E4}"])
    }

    @Test(arguments: [Duration.milliseconds(Int64.max), .seconds(Int64.max), .zero, .seconds(-1)])
    func anyDelayIsRepresentable(serverDelay: Duration) {
        for failures in [0, 1, 21, .max] {
            let delay = EventSource.Options().delay(after: failures, serverDelay)
            #expect(delay <= .longestWait)
            #expect(delay >= min(serverDelay, .longestWait))
        }
    }

    @Test func thereCanBeAnEndToTheAttempts() async throws {
        let lost = Result<StubTransport.Response, TransportError>.failure(TransportError(.connectionClosed, "Gone."))
        let transport = makeTransport([lost, lost, lost, lost])
        let source = try listen(transport, clock: ContinuousClock()) {
            $0.maximumReconnects = 2
            $0.reconnectDelay = .zero
        }
        #expect(await all(source).error?.code == .connectionLost)
        #expect(transport.requests.count == 3)
    }

    static let refusals: [(status: Int, fields: HTTPFields, code: SessionError.Code)] = [
        (200, [.contentType: "text/html"], .unacceptableContentType), (200, [:], .unacceptableContentType),
        (404, stream, .unacceptableStatus), (500, stream, .unacceptableStatus), (206, stream, .unacceptableStatus),
    ]

    @Test(arguments: refusals.indices)
    func aResponseOtherThanAnEventStreamFails(index: Int) async throws {
        let (status, fields, code) = Self.refusals[index]
        let transport = makeTransport([
            .success(.status(.init(code: status), headerFields: fields, body: Data("data: a\n\n".utf8)))
        ])
        let (events, error) = await all(try listen(transport, clock: ManualClock()))
        #expect(events.isEmpty)
        #expect(error?.code == code)
        #expect(error?.head?.status.code == status)
        #expect(transport.requests.count == 1)
    }

    @Test func aPermanentFailureEndsTheSourceAtOnce() async throws {
        let transport = makeTransport([.failure(TransportError(.trustRefused, "No."))])
        #expect(await all(try listen(transport, clock: ManualClock())).error?.code == .trustRefused)
        let large = makeTransport([.success(Self.events("data: " + String(repeating: "a", count: 200) + "\n\n"))])
        let source = try listen(large, clock: ManualClock()) { $0.eventSizeLimit = 100 }
        #expect(await all(source).error?.code == .bodyTooLarge)
    }

    @Test func cancellingEndsTheWaiting() async throws {
        let clock = ManualClock()
        let transport = makeTransport([.success(Self.events("data: a\n\n")), .success(Self.events("data: b\n\n"))])
        let reading = Task { await all(try listen(transport, clock: clock)) }
        try await clock.waitForSleepers(count: 1)
        reading.cancel()
        let (events, error) = try await reading.value
        #expect(events == ["a"])
        #expect(error?.code == .cancelled)
        #expect(transport.requests.count == 1)
    }

    @Test func aSourceBeginsWithASavedID() async throws {
        let transport = makeTransport([])
        let source = try listen(transport, clock: ManualClock()) { $0.lastEventID = "42" }
        #expect(await all(source).events.isEmpty)
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        #expect(transport.requests.first?.head.headerFields[name] == "42")
    }

    /// Over sockets: the server breaks each connection off, and goes on where the client says.
    @Test func nothingIsLostOverManyConnections() async throws {
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        let handler: MockServer.Handler = { request in
            let next = (request.headerFields[name].flatMap { Int($0) } ?? 0) + 1
            guard next <= 20 else { return .status(.noContent) }
            let text = (next..<(next + 3)).map { "retry: 0\nid: \($0)\ndata: event \($0)\n\n" }.joined()
            let response = MockResponse(headerFields: Self.stream, body: .text(text))
            // In the middle of the third event.
            return response.with(MockServer.Fault(.reset, at: .responseBody(after: text.utf8.count - 5)))
        }
        try await withMockServer(handler: handler) { server in
            let session = try HTTPSession()
            var seen: [String] = []
            for try await event in session.call(SessionRequest(url: try server.url("/"))).serverSentEvents() {
                seen.append(event.data)
            }
            #expect(seen == (1...20).map { "event \($0)" })
            #expect(server.recordedRequests.count == 11)
            await session.shutdown()
        }
    }
}
