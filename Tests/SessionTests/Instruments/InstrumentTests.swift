import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

/// Writes down what it is told.
private final class Notebook: Instrument, ConnectionObserver {
    struct Send {
        let request: InstrumentedRequest
        var outcomes: [SendOutcome] = []
    }

    struct Pages {
        var sends: [Send] = []
        var decisions: [TaskEvent.Decision] = []
        var steps: [InstrumentedStep] = []
        var connections: [ConnectionEvent] = []
    }

    private let pages = Mutex(Pages())
    let ends = EventRecorder<SendOutcome>()
    private let field: String?

    init(adding field: String? = nil) { self.field = field }

    var content: Pages { pages.withLock { $0 } }
    var sends: [Send] { content.sends }

    var connectionObserver: (any ConnectionObserver)? { self }

    func willSend(_ request: inout InstrumentedRequest) -> (@Sendable (SendOutcome) -> Void)? {
        if let field, let traceparent { request.headerFields[traceparent] = field }
        let seen = request
        let index = pages.withLock { pages in
            pages.sends.append(Send(request: seen))
            return pages.sends.count - 1
        }
        return { [self] outcome in
            pages.withLock { $0.sends[index].outcomes.append(outcome) }
            ends.record(outcome)
        }
    }

    func didDecide(_ decision: TaskEvent.Decision, on request: InstrumentedRequest) {
        pages.withLock { $0.decisions.append(decision) }
    }

    func didPerform(_ step: InstrumentedStep, for request: InstrumentedRequest) {
        pages.withLock { $0.steps.append(step) }
    }

    func connectionDidChange(_ event: ConnectionEvent) {
        pages.withLock { $0.connections.append(event) }
    }
}

private let traceparent = HTTPField.Name("traceparent")

@Suite("Instruments", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct InstrumentTests {
    @Test func aRequestIsOneSend() async throws {
        let notebook = Notebook()
        try await withMockClient(configure: { $0.instruments = [notebook] }) {
            $0.on("/a") { _ in .text("hello") }
        } perform: { client, server in
            _ = try await client.post("a?token=1", ["x": 1]).tag("t").text()
            let send = try #require(notebook.sends.first)
            #expect(notebook.sends.count == 1)
            #expect(send.request.sends == 1)
            #expect(send.request.method == .post)
            #expect(send.request.origin.port == server.port)
            #expect(send.request.tag == "t")
            #expect(send.request.bodyLength == 3)
            #expect(!send.request.redactedURL.contains("token=1"))
            let outcome = try #require(send.outcomes.first)
            #expect(send.outcomes.count == 1)
            #expect(outcome.head?.status == .ok)
            #expect(outcome.error == nil && outcome.errorType == nil)
            #expect(outcome.protocolVersion == "1.1")
            #expect(outcome.attempts.last?.responseBodyBytes == 5)
            #expect(outcome.attempts.last?.requestBodyBytes == 3)
        }
    }

    @Test func retriesAndRedirectsAreSendsOfOneTask() async throws {
        let notebook = Notebook(adding: "00-1")
        let visits = Mutex(0)
        try await withMockClient(configure: {
            $0.instruments = [notebook]
            $0.retryPolicy = RetryPolicy(limit: 1)
            $0.retryPolicy.backoff.first = .milliseconds(1)
        }) {
            $0.on("/a") { _ in
                let isFirst = visits.withLock { visits in
                    visits += 1
                    return visits == 1
                }
                return isFirst ? .status(.serviceUnavailable) : .redirect(to: "/b")
            }
            $0.on("/b") { _ in .text("hello") }
        } perform: { client, server in
            _ = try await client.get("a").text()
            let sends = notebook.sends
            #expect(sends.map(\.request.sends) == [1, 2, 3])
            #expect(Set(sends.map(\.request.taskID)).count == 1)
            #expect(sends.map { $0.outcomes.map(\.errorType) } == [["503"], [nil], [nil]])
            #expect(sends.map { $0.outcomes.map { $0.head?.status.code } } == [[503], [302], [200]])
            let name = try #require(traceparent)
            #expect(server.recordedRequests.allSatisfy { $0.headerFields[name] == "00-1" })
            guard case .retry(attempt: 2, _)? = notebook.content.decisions.first else {
                Issue.record("No retry: \(notebook.content.decisions)")
                return
            }
            #expect(notebook.content.steps.map(\.name).contains("pause before retry"))
        }
    }

    @Test func aStreamEndsWithItsBody() async throws {
        let notebook = Notebook()
        try await withMockClient(configure: { $0.instruments = [notebook] }) {
            $0.on("/a") { _ in .text(String(repeating: "x", count: 3_000_000)) }
        } perform: { client, _ in
            let response = try await client.get("a").bytes()
            #expect(notebook.sends.first?.outcomes.isEmpty == true)
            var count = 0
            for try await chunk in response.body { count += chunk.count }
            #expect(count == 3_000_000)
            _ = try await notebook.ends.wait(count: 1)
            #expect(notebook.sends.first?.outcomes.first?.attempts.last?.responseBodyBytes == 3_000_000)
        }
    }

    @Test func aReleasedBodyEndsItsSend() async throws {
        let notebook = Notebook()
        try await withMockClient(configure: { $0.instruments = [notebook] }) {
            $0.on("/a") { _ in .text(String(repeating: "x", count: 3_000_000)) }
        } perform: { client, _ in
            _ = try await client.get("a").bytes()
            _ = try await notebook.ends.wait(count: 1)
            #expect(notebook.sends.first?.outcomes.first?.head?.status == .ok)
        }
    }

    @Test func aFailureHasAType() async throws {
        let notebook = Notebook()
        let transport = StubTransport { _ in throw TransportError(.connectionFailed, "No.") }
        let session = try makeClient(transport) { $0.instruments = [notebook] }
        await #expect(throws: SessionError.self) { try await session.get("x").text() }
        #expect(notebook.sends.map { $0.outcomes.map(\.errorType) } == [["connectionFailed"]])
        await session.shutdown()
    }

    @Test func aHedgeIsASend() async throws {
        let (notebook, clock) = (Notebook(), ManualClock())
        let transport = StubTransport { request in
            try await clock.sleep(for: request.index == 0 ? .seconds(1) : .milliseconds(10))
            return .json("\(request.index)")
        }
        let session = try makeClient(transport) {
            $0.clock = clock
            $0.instruments = [notebook]
            $0.hedging = HedgingPolicy(after: .milliseconds(50))
        }
        async let text = session.get("x").text()
        try await clock.waitForSleepers(count: 2)
        clock.advance(by: .milliseconds(50))
        try await clock.waitForSleepers(count: 2)
        clock.advance(by: .milliseconds(10))
        #expect(try await text == "1")
        #expect(notebook.sends.map(\.request.sends) == [1, 2])
        #expect(notebook.content.decisions == [.hedge(attempt: 2)])
        _ = try await notebook.ends.wait(count: 2)
        #expect(notebook.sends.map { $0.outcomes.first?.errorType } == ["cancelled", nil])
        await session.shutdown()
    }

    @Test func theCacheIsADecision() async throws {
        let notebook = Notebook()
        try await withMockClient(configure: {
            $0.instruments = [notebook]
            $0.cacheStore = MemoryCacheStore()
        }) {
            $0.on("/a") { _ in MockResponse(headerFields: [.cacheControl: "max-age=60"], body: .text("hello")) }
        } perform: { client, _ in
            _ = try await client.get("a").text()
            _ = try await client.get("a").text()
            #expect(notebook.sends.count == 1)
            #expect(notebook.content.decisions == [.cache(.miss), .cache(.hit)])
        }
    }

    @Test func connectionsAreCounted() async throws {
        let notebook = Notebook()
        try await withMockClient(configure: { $0.instruments = [notebook] }) {
            $0.on("/a") { _ in .text("hello") }
        } perform: { client, _ in
            _ = try await client.get("a").text()
            _ = try await client.get("a").text()
            await client.shutdown()
        }
        let events = notebook.content.connections
        func count(_ isCounted: (ConnectionEvent.Kind) -> Bool) -> Int { events.filter { isCounted($0.kind) }.count }
        #expect(count { $0 == .opened } == 1)
        #expect(count { $0 == .becameActive } == 2)
        #expect(count { $0 == .becameIdle } == 2)
        #expect(count { if case .closed(let age, false) = $0 { age > .zero } else { false } } == 1)
        #expect(count { $0 == .requestWaits } == count { $0 == .requestStoppedWaiting })
        #expect(Set(events.filter { $0.connectionID != 0 }.map(\.connectionID)).count == 1)
    }

    @Test func aConnectionThatBreaksIsCountedOnce() async throws {
        let notebook = Notebook()
        try await withMockClient(configure: { $0.instruments = [notebook] }) {
            $0.on("/a") { _ in .text("hello").with(.init(.close, at: .responseHead)) }
        } perform: { client, _ in
            await #expect(throws: SessionError.self) { try await client.post("a").text() }
            await client.shutdown()
        }
        let kinds = notebook.content.connections.map(\.kind)
        let active =
            kinds.count { $0 == .becameActive } - kinds.count { $0 == .becameIdle }
            - kinds.count { if case .closed(_, true) = $0 { true } else { false } }
        let open = kinds.count { $0 == .opened } - kinds.count { if case .closed = $0 { true } else { false } }
        #expect(active == 0 && open == 0)
    }
}
