import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct TaskEventTests {
    @Test(arguments: Surface.allCases)
    func startAndEndAreReportedOnceOnEverySurface(surface: Surface) async throws {
        let client = try makeClient(StubTransport { _ in .json("1") })
        let recorder = EventRecorder<TaskEvent>()
        client.onEvent { recorder.record($0) }
        var options = RequestOptions()
        options.tag = "t"
        _ = await surface.send("x", options: options, with: client)
        let events = try await recorder.wait { $0.last?.isCompletion == true }
        #expect(events.map(\.name) == (surface == .async ? [] : ["created"]) + ["resumed", "completed"])
        #expect(Set(events.map(\.taskID)).count == 1)
        #expect(events.allSatisfy { $0.tag == "t" && $0.url?.absoluteString == "http://example.com/api/x" })
    }

    @Test(arguments: Surface.allCases)
    func failuresAreReportedWithTheirError(surface: Surface) async throws {
        let client = try makeClient(StubTransport { _ in .status(500) })
        let recorder = EventRecorder<TaskEvent>()
        client.onEvent { recorder.record($0) }
        _ = await surface.send("x", with: client)
        let events = try await recorder.wait { $0.last?.isCompletion == true }
        #expect(events.last?.error?.code == .unacceptableStatus)
    }

    @Test func onlyRealChangesAreReportedInOrder() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let events = session.events
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        task.taskDescription = "mine"
        task.suspend()
        task.resume()
        task.resume()
        task.suspend()
        task.suspend()
        task.resume()
        task.cancel()
        task.cancel()
        task.resume()
        body.finish()
        var seen: [TaskEvent] = []
        for await event in events {
            seen.append(event)
            if event.isCompletion { break }
        }
        #expect(seen.map(\.name) == ["created", "resumed", "suspended", "resumed", "completed"])
        #expect(seen.last?.error?.code == .cancelled)
        #expect(seen.last?.taskDescription == "mine")
    }

    /// The work of a handle begins before its start is reported, and its first part may decide.
    @Test func decisionsFollowTheStart() async throws {
        let client = try makeClient(StubTransport { _ in .status(500) }) {
            $0.circuitBreaker = CircuitBreaker { ($0.minimumRequests, $0.openDuration) = (1, .seconds(1000)) }
        }
        _ = await sessionError { try await client.get("x").data() }
        let recorder = EventRecorder<String>()
        client.onEvent { recorder.record($0.name) }
        let task = client.get("x").jsonTask()
        task.resume()
        let names = try await recorder.wait { $0.last == "completed" }
        #expect(names == ["created", "resumed", "decided", "completed"])
    }

    /// The kinds of requests without a handle.
    enum Call: CaseIterable {
        case value, download, stream

        func send(_ client: HTTPSession) async throws {
            switch self {
            case .value: _ = try await client.get("x").data()
            case .download:
                let file = FileManager.default.temporaryDirectory.appending(
                    path: "linnet-late-\(UInt64.random(in: 0 ... .max))")
                defer { try? FileManager.default.removeItem(at: file) }
                _ = try await client.get("x").download(to: file)
            case .stream: _ = try await client.get("x").bytes().body.collect(upTo: 100)
            }
        }
    }

    @Test(arguments: Call.allCases)
    func whoSubscribesWhileACallRunsSeesTheRestOfIt(call: Call) async throws {
        let recorder = EventRecorder<TaskEvent>()
        let client = Mutex<HTTPSession?>(nil)
        let transport = StubTransport { request in
            guard request.index == 0 else { return .status(200, body: Data("a".utf8)) }
            client.withLock { $0 }?.onEvent { recorder.record($0) }
            return .status(503)
        }
        let session = try makeClient(transport) {
            $0.retryPolicy = .limited(to: 1)
            $0.retryPolicy.backoff.first = .zero
        }
        client.withLock { $0 = session }
        try await call.send(session)
        client.withLock { $0 = nil }
        let events = try await recorder.wait { $0.last?.isCompletion == true }
        #expect(events.map(\.name) == ["decided", "completed"])
        #expect(Set(events.map(\.taskID)).count == 1 && events.allSatisfy { $0.url?.path == "/api/x" })
        await session.shutdown()
    }

    @Test func aStreamedResponseEndsWithItsBody() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let recorder = EventRecorder<String>()
        session.onEvent { recorder.record($0.name) }
        let response = try await session.call(makeRequest()).bytes()
        body.send("a")
        body.finish()
        #expect(try await recorder.wait(count: 1) == ["resumed"])
        _ = try await response.body.collect(upTo: 10)
        #expect(try await recorder.wait(count: 2) == ["resumed", "completed"])
    }

    @Test func aTasksOwnEventsAreItsWholeLife() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data("abc".utf8)) })
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let events = task.events
        let states = task.states
        task.resume()
        var ends = 0
        var last: DataTask<Data>.Event?
        for await event in events {
            if case .completed = event { ends += 1 }
            last = event
        }
        #expect(ends == 1)
        guard case .completed(.success(let response)) = last else {
            Issue.record("not the end")
            return
        }
        #expect(response.value == Data("abc".utf8))
        var seen: [TaskState] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.suspended, .running, .completed])
    }

    @Test func lateObserversHearTheEndExactlyOnce() async throws {
        let client = try makeClient(StubTransport { _ in .json("1") })
        let task = client.call(.get, "x").jsonTask()
        task.resume()
        _ = try await task.value
        let recorder = EventRecorder<String>()
        task.onStateChange { recorder.record("\($0)") }
        task.onCompletion { _ in recorder.record("end") }
        #expect(try await recorder.wait(count: 2) == ["completed", "end"])
        var late: [String] = []
        for await event in task.events {
            switch event {
            case .state: late.append("state")
            case .progress: late.append("progress")
            case .completed: late.append("completed")
            }
        }
        #expect(late == ["state", "progress", "completed"])
    }

    @Test func valueCanBeAwaitedAnyNumberOfTimes() async throws {
        let client = try makeClient(StubTransport { _ in .json("7") })
        let task = client.call(.get, "x").jsonTask()
        async let first = task.value.value
        async let second = task.value.value
        task.resume()
        #expect(try await first == 7)
        #expect(try await second == 7)
        #expect(try await task.value.value == 7)
    }

    @Test func observersMayCallTheTaskBack() async throws {
        // It never answers: the work begins before its observers are told, and could have ended by then.
        let transport = StubTransport { _ in
            await Signal().wait()
            return .json("7")
        }
        let client = try makeClient(transport) {
            $0.callbackExecutor = .custom { $0() }
        }
        let task = client.call(.get, "x").jsonTask()
        let recorder = EventRecorder<TaskState>()
        task.onStateChange { [weak task] state in
            recorder.record(state)
            if state == .running { task?.cancel() }
        }
        task.resume()
        #expect(await Result { () async throws(SessionError) in try await task.value }.error?.code == .cancelled)
        #expect(try await recorder.wait(count: 4) == [.suspended, .running, .cancelling, .completed])
    }

    @Test func callbacksComeOnTheExecutorAfterAllProgress() async throws {
        let calls = EventRecorder<String>()
        let client = try makeClient(StubTransport { _ in .json("[1]") }) {
            $0.callbackExecutor = .custom { work in
                calls.record("executor")
                work()
            }
        }
        let task = client.get("x").jsonTask()
        task.onProgress { _ in calls.record("progress") }
        task.onCompletion { calls.record($0.error == nil ? "success" : "failure") }
        task.resume()
        let all = try await calls.wait { $0.last == "success" }
        #expect(all.filter { $0 == "success" }.count == 1)
        #expect(all.contains("progress"))
        #expect(all.enumerated().allSatisfy { $0.offset.isMultiple(of: 2) == ($0.element == "executor") })
    }
}

extension TaskEvent {
    fileprivate var name: String {
        switch kind {
        case .created: "created"
        case .resumed: "resumed"
        case .suspended: "suspended"
        case .decided: "decided"
        case .completed: "completed"
        }
    }

    fileprivate var isCompletion: Bool { name == "completed" }

    fileprivate var error: SessionError? {
        if case .completed(let error) = kind { error } else { nil }
    }
}
