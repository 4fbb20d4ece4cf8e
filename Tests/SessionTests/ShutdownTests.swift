import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Synchronization
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

    @Test func aGracefulShutdownLetsRunningRequestsFinish() async throws {
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
        client.startShutdown(.graceful)
        answer.fire()
        #expect(try await task.value.value == 1)
        await client.shutdown(.graceful)
    }

    /// The transport is there until the last request of a call.
    @Test(arguments: [302, 503])
    func aGracefulShutdownAllowsRetries(status: Int) async throws {
        let (arrived, answer) = (Signal(), Signal())
        let count = Mutex(0)
        let handler: MockServer.Handler = { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return .json("1") }
            arrived.fire()
            await answer.wait()
            return MockResponse(
                status: HTTPResponse.Status(code: status), headerFields: [.location: "/second", .retryAfter: "0"])
        }
        try await withMockServer(handler: handler) { server in
            let session = try HTTPSession(baseURL: server.url) { $0.retryPolicy = .limited(to: 1) }
            let request = Task { try await session.get("first").value(as: Int.self) }
            await arrived.wait()
            session.startShutdown(.graceful)
            for _ in 0..<1_000 { await Task.yield() }
            answer.fire()
            #expect(try await request.value == 1)
            await session.shutdown()
            let error = await #expect(throws: SessionError.self) { try await session.get("third").response() }
            #expect(error?.code == .shutDown)
        }
    }

    @Test func anImmediateShutdownEndsThePauseBeforeARetry() async throws {
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
        let client = try makeClient(StubTransport { _ in throw TransportError(.connectionFailed, "No.") })
        let reading = Task {
            for try await _ in client.get("x").serverSentEvents(options: EventSource.Options { $0.clock = clock }) {}
        }
        try await clock.waitForSleepers(count: 1)
        await client.shutdown(mode)
        let error = await #expect(throws: SessionError.self) { try await reading.value }
        #expect(error?.code == .shutDown)
    }
}

/// The timeout of a request covers its hooks' work on the body, and a body that does not come.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct RequestTimeoutTests {
    private func code(_ body: () async throws(SessionError) -> Void) async -> SessionError.Timeout? {
        await Result { () async throws(SessionError) in try await body() }.error?.timeout
    }

    @Test func anEndlessBodyIsNotAwaited() async throws {
        let client = try makeClient(StubTransport { _ in .stream(StubTransport.Body()) })
        let call = client.get("x").timeout(.milliseconds(50))
        #expect(await code { () async throws(SessionError) in _ = try await call.data() } == .request)
        let task = call.task()
        #expect(await code { () async throws(SessionError) in _ = try await task.value } == .request)
    }

    @Test func aHookThatDoesNotReturnIsNotAwaited() async throws {
        let never = Signal()
        let client = try makeClient(StubTransport { _ in .json("1") }) {
            $0.hooks.didReceiveData = { _, _ in await never.wait() }
        }
        let call = client.get("x").timeout(.milliseconds(50))
        #expect(await code { () async throws(SessionError) in _ = try await call.data() } == .request)
        #expect(
            await code { () async throws(SessionError) in
                for try await _ in try await call.bytes().body {}
            } == .request)
    }

    @Test func aSuspendedHandleTimesOut() async throws {
        let body = StubTransport.Body()
        let client = try makeClient(StubTransport { _ in .stream(body) })
        let task = client.get("x").timeout(.milliseconds(50)).task()
        task.resume()
        body.send("a")
        task.suspend()
        #expect(await code { () async throws(SessionError) in _ = try await task.value } == .request)
    }
}
