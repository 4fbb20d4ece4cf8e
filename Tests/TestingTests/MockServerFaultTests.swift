import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerFaultTests {
    typealias Fault = MockServer.Fault

    struct Point: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let trigger: Fault.Trigger
        /// The text that the client has received at that point.
        let received: String
    }

    static let head = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"
    static let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabcdef"
    static let points = [
        Point(testDescription: "connect", trigger: .connect, received: ""),
        Point(testDescription: "clientHello", trigger: .clientHello, received: ""),
        Point(testDescription: "requestHead", trigger: .requestHead, received: ""),
        Point(testDescription: "requestBody", trigger: .requestBody(after: 3), received: ""),
        Point(testDescription: "requestBody, past its end", trigger: .requestBody(after: 99), received: ""),
        Point(testDescription: "responseHead", trigger: .responseHead, received: ""),
        Point(testDescription: "responseBody, first byte", trigger: .responseBody(after: 0), received: head),
        Point(testDescription: "responseBody", trigger: .responseBody(after: 5), received: head + "01234"),
        Point(
            testDescription: "responseBody, past its end", trigger: .responseBody(after: 99),
            received: head + "01234567"),
        Point(testDescription: "responseEnd", trigger: .responseEnd, received: head + "01234567"),
    ]

    /// Starts a server with the fault: as part of the response when its trigger allows that, otherwise in a plan.
    private static func withServer(
        _ fault: Fault, clock: ManualClock = ManualClock(), perform: (MockServer) async throws -> Void
    ) async throws {
        let configuration = MockServer.Configuration {
            $0.faults = .always(fault)
            $0.clock = clock
        }
        try await withMockServer(
            configuration: configuration, handler: { _ in MockResponse(body: .text("01234567")) }, perform: perform)
    }

    /// When the server closes the connection at `connect`, nothing is sent: unread bytes would make TCP send a reset.
    private static func send(_ conversation: Conversation, _ point: Point) async throws {
        if point.trigger != .connect { try await conversation.send(request) }
    }

    @Test(arguments: [Fault.Effect.close, .truncate], points)
    func theConnectionIsClosed(_ effect: Fault.Effect, at point: Point) async throws {
        try await Self.withServer(Fault(effect, at: point.trigger)) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await Self.send(conversation, point)
                #expect(await conversation.receiveToEnd() == .fin)
                #expect(conversation.received == point.received)
            }
        }
    }

    @Test(arguments: points) func garbageIsSentBeforeTheEnd(at point: Point) async throws {
        try await Self.withServer(Fault(.garbage, at: point.trigger)) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await Self.send(conversation, point)
                #expect(await conversation.receiveToEnd() == .fin)
                #expect(conversation.received.hasPrefix(point.received))
                #expect(conversation.received.hasSuffix("garbage\r\n\r\n"))
            }
        }
    }

    @Test(arguments: points) func theConnectionIsReset(at point: Point) async throws {
        try await Self.withServer(Fault(.reset, at: point.trigger)) { server in
            do {
                try await Conversation.with(port: server.port) { conversation in
                    try await Self.send(conversation, point)
                    #expect(await conversation.receiveToEnd() == .reset)
                    // A reset can discard bytes that were sent before it.
                    #expect(point.received.hasPrefix(conversation.received))
                }
            } catch {
                // The reset can arrive before the client has noticed the connection.
                #expect(point.trigger == .connect)
            }
        }
    }

    @Test(arguments: points) func theServersSendingSideIsClosed(at point: Point) async throws {
        try await Self.withServer(Fault(.halfClose, at: point.trigger)) { server in
            try await Conversation.with(port: server.port, keepsOpenAfterFIN: true) { conversation in
                try await Self.send(conversation, point)
                #expect(await conversation.receiveToEnd() == .fin)
                #expect(conversation.received == point.received)
                #expect(server.openConnections == 1)
            }
        }
    }

    @Test(arguments: points) func theServerStalls(at point: Point) async throws {
        try await Self.withServer(Fault(.stall, at: point.trigger)) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await Self.send(conversation, point)
                let received = point.received.isEmpty ? "" : try await conversation.receive(through: point.received)
                #expect(received == point.received)
                // The server sends nothing further before the end.
                async let end: Void = server.shutdown()
                _ = await conversation.receiveToEnd()
                #expect(conversation.received.isEmpty)
                await end
            }
        }
    }

    @Test(arguments: points) func theServerPausesAndContinues(at point: Point) async throws {
        let clock = ManualClock()
        try await Self.withServer(Fault(.delay(.seconds(5)), at: point.trigger), clock: clock) { server in
            try await Conversation.with(port: server.port) { conversation in
                try await conversation.send(Self.request)
                try await clock.waitForSleepers(count: 1)
                let received = point.received.isEmpty ? "" : try await conversation.receive(through: point.received)
                #expect(received == point.received)
                clock.advance(by: .seconds(5))
                let rest = (Self.head + "01234567").dropFirst(received.count)
                if !rest.isEmpty { #expect(try await conversation.receive(through: "7") == rest) }
            }
        }
    }

    @Test func aFaultInsideAChunkOccursAtItsExactOffset() async throws {
        let response = MockResponse(body: .chunks([Data("abcdef".utf8)]))
            .with(.init(.close, at: .responseBody(after: 4)))
        try await withMockServer(response) { server in
            let text = try await transcript(of: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", port: server.port)
            #expect(text.hasSuffix("\r\n\r\n6\r\nabcd"))
        }
    }

    @Test func aRequestThatMeetsAFaultIsRecorded() async throws {
        try await Self.withServer(Fault(.close, at: .requestBody(after: 3))) { server in
            _ = try await transcript(of: Self.request, port: server.port)
            let recorded = try await server.nextRequest()
            #expect(recorded.bodyText == "abc")
            #expect(!recorded.isComplete)
        }
    }

    @Test func aPlanChoosesByConnectionAndByPath() async throws {
        let close = Fault(.close, at: .requestHead)
        for plan in [MockServer.FaultPlan.connections([0], close), .path("/bad", close)] {
            let configuration = MockServer.Configuration { $0.faults = plan }
            try await withMockServer(.text("fine"), configuration: configuration) { server in
                let bad = try await transcript(of: "GET /bad HTTP/1.0\r\n\r\n", port: server.port)
                let good = try await transcript(of: "GET /good HTTP/1.0\r\n\r\n", port: server.port)
                #expect(bad.isEmpty)
                #expect(good.hasSuffix("fine"))
            }
        }
    }
}
