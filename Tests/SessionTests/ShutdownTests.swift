import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ShutdownTests {
    @Test(arguments: Surface.allCases, [ShutdownMode.graceful, .immediate])
    func laterRequestsFail(surface: Surface, mode: ShutdownMode) async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        await client.shutdown(mode)
        #expect(await surface.send("x", with: client).error?.code == .shutDown)
        #expect(transport.shutdowns == [mode])
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [ShutdownMode.graceful, .immediate])
    func handlesThatNeverRanFail(mode: ShutdownMode) async throws {
        let client = try makeClient()
        let task = client.call(.get, "x").jsonTask()
        await client.shutdown(mode)
        #expect(task.state == .completed)
        #expect(task.error?.code == .shutDown)
    }

    @Test func gracefullyWhatRunsMayFinish() async throws {
        let arrived = Signal()
        let answer = Signal()
        let client = try makeClient(
            StubTransport { _ in
                arrived.fire()
                await answer.wait()
                return .json("1")
            })
        let task = client.call(.get, "x").jsonTask()
        task.resume()
        await arrived.wait()
        client.invalidate(cancellingTasks: false)
        answer.fire()
        #expect(try await task.value.value == 1)
        await client.shutdown(.graceful)
    }

    /// The transport is there until the last request of a call.
    @Test(arguments: [302, 503])
    func gracefullyWhatRunsMaySendAgain(status: Int) async throws {
        let (arrived, answer) = (Signal(), Signal())
        try await withMockServer(handler: { request in
            guard request.path == "/first", arrived.fire() else { return .json("1") }
            await answer.wait()
            return MockResponse(
                status: HTTPResponse.Status(code: status), headerFields: [.location: "/second", .retryAfter: "0"])
        }) { server in
            let session = try HTTPSession(baseURL: server.url) {
                $0.retryPolicy = .limited(to: 1)
                $0.securityPolicy = .systemTrust()
            }
            async let value: Int = session.get("first").value(as: Int.self)
            await arrived.wait()
            async let end: Void = session.shutdown()
            while !session.engine.running.hasEnded { await Task.yield() }
            answer.fire()
            #expect(try await value == 1)
            await end
            await #expect(throws: SessionError.self) { try await session.get("third").response() }
        }
    }

    @Test func immediatelyThePauseBeforeARetryEnds() async throws {
        let clock = ManualClock()
        let client = try makeClient(StubTransport { _ in .status(503, headerFields: [.retryAfter: "60"]) }) {
            $0.retryPolicy = .limited(to: 1)
            $0.clock = clock
        }
        let request = Task { await Result { () async throws(SessionError) in try await client.get("x").response() } }
        try await clock.waitForSleepers(count: 1)
        await client.shutdown(.immediate)
        #expect(await request.value.error?.code == .shutDown)
    }

    @Test(arguments: [ShutdownMode.graceful, .immediate])
    func thePauseOfAnEventStreamEnds(mode: ShutdownMode) async throws {
        let clock = ManualClock()
        let client = try makeClient(StubTransport { _ in .data("data: a\n\n", contentType: "text/event-stream") })
        let reading = Task {
            for try await _ in client.get("x").serverSentEvents(EventSourceOptions { $0.clock = clock }) {}
        }
        try await clock.waitForSleepers(count: 1)
        await client.shutdown(mode)
        let error = await #expect(throws: SessionError.self) { try await reading.value }
        #expect(error?.code == .shutDown)
    }
}
