import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ObservingHookTests {
    @Test(arguments: Surface.allCases, Version.allCases)
    func eachEventOfARequestReachesItsHook(surface: Surface, version: Version) async throws {
        let calls = EventRecorder<String>()
        var early = MockResponse.json("1")
        early.informational = [HTTPResponse(status: .init(code: 103), headerFields: [.link: "</style>"])]
        let response = early
        try await withMockClient(
            version,
            configure: {
                $0.hooks.didSendBody = { _, bytes, progress in
                    calls.record("sent \(bytes) \(progress.completed) of \(progress.total ?? -1)")
                }
                $0.hooks.didReceiveInformational = { _, head in
                    calls.record("informational \(head.status.code) \(head.headerFields[.link] ?? "")")
                }
                $0.hooks.didCollectMetrics = { _, metrics in calls.record("metrics \(metrics.count)") }
                $0.hooks.didComplete = { context, error in
                    calls.record("completed \(context.kind) \(error?.code.description ?? "fine")")
                }
            }, routes: { $0.on("/a", response) },
            perform: { client, server in
                _ = try await surface.send("a", method: .post, parameters: ["k": "v"], with: client).get()
                try await calls.wait { $0.last?.hasPrefix("completed") == true }
                #expect(
                    calls.events == [
                        "sent 3 3 of 3", "informational 103 </style>", "metrics 1", "completed data fine",
                    ])
            })
    }

    /// The transport sends the request again on its own.
    @Test(arguments: Surface.allCases)
    func eachAttemptOfTheTransportCountsItsBytesFromZero(surface: Surface) async throws {
        let sent = EventRecorder<Int64>()
        let totals = EventRecorder<Int64?>()
        let client = try makeClient(RepeatingTransport(pieces: [[2], [1, 2], [3]])) {
            $0.hooks.didSendBody = { _, _, progress in
                sent.record(progress.completed)
                totals.record(progress.total)
            }
        }
        _ = try await surface.send("a", method: .post, parameters: ["k": "v"], with: client).get()
        try await sent.wait(count: 4)
        #expect(sent.events == [2, 1, 3, 3])
        #expect(totals.events == [3, 3, 3, 3])
    }

    /// Also by a transport that does not tell when an attempt ends.
    @Test(arguments: Surface.allCases)
    func eachRequestOfARedirectCountsItsBytesFromZero(surface: Surface) async throws {
        let sent = EventRecorder<Int64>()
        let client = try makeClient(RedirectingTransport()) {
            $0.hooks.didSendBody = { _, _, progress in sent.record(progress.completed) }
        }
        _ = try await surface.send("a", method: .post, parameters: ["k": "v"], with: client).get()
        #expect(try await sent.wait(count: 2) == [3, 3])
    }

    @Test(arguments: Surface.allCases)
    func everyRequestCompletesOnce(surface: Surface) async throws {
        let completed = EventRecorder<SessionError.Code?>()
        let client = try makeClient(StubTransport { $0.head.path == "/api/a" ? .json("1") : .status(500) }) {
            $0.hooks.didComplete = { _, error in completed.record(error?.code) }
        }
        _ = await surface.send("a", with: client)
        try await completed.wait(count: 1)
        _ = await surface.send("b", with: client)
        try await completed.wait(count: 2)
        await client.shutdown()
        _ = await surface.send("a", with: client)
        try await completed.wait(count: 3)
        #expect(completed.events == [nil, .unacceptableStatus, .shutDown])
    }

    @Test func handlesThatNeverStartedCompleteToo() async throws {
        let completed = EventRecorder<UInt64>()
        let client = try makeClient {
            $0.hooks.didComplete = { context, error in
                if error?.code == .cancelled { completed.record(context.taskID) }
            }
        }
        let task = client.call(.get, "a").jsonTask()
        task.cancel()
        task.cancel()
        var dropped: DataTask<JSONValue?>? = client.call(.get, "b").jsonTask()
        let id = dropped?.id
        dropped = nil
        try await completed.wait(count: 2)
        #expect(completed.events == [task.id, id])
    }

    @Test func streamsCompleteAtTheirEndOrWhenTheyAreDropped() async throws {
        let completed = EventRecorder<SessionError.Code?>()
        var configuration = HTTPSession.Configuration()
        configuration.hooks.didComplete = { context, error in
            #expect(context.kind == .stream)
            completed.record(error?.code)
        }
        let session = try HTTPSession(configuration: configuration, transport: StubTransport { _ in .json("1") })
        var stream: StreamedResponse? = try await session.call(makeRequest()).bytes()
        #expect(completed.events.isEmpty)
        _ = try await stream?.body.collect(upTo: 10)
        try await completed.wait(count: 1)
        stream = try await session.call(makeRequest()).bytes()
        stream = nil
        try await completed.wait(count: 2)
        #expect(completed.events == [nil, .cancelled])
    }

    @Test func downloadsReportTheirWrittenBytes() async throws {
        let calls = EventRecorder<String>()
        let file = FileManager.default.temporaryDirectory.appending(
            path: "linnet-hooks-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: file) }
        var hooks = TaskHooks()
        hooks.didWriteDownload = { _, _, progress in calls.record("\(progress.completed) of \(progress.total ?? -1)") }
        hooks.didFinishDownload = { _, file in calls.record(file.lastPathComponent) }
        hooks.didComplete = { context, _ in calls.record("\(context.kind)") }
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data("bytes".utf8)) })
        _ = try await session.call(makeRequest()).hooks(hooks).download(to: file)
        try await calls.wait(count: 3)
        #expect(calls.events == ["5 of 5", file.lastPathComponent, "download"])
    }

    @Test func theSessionsHooksAreCalledBeforeTheRequests() async throws {
        let calls = EventRecorder<String>()
        let client = try makeClient(StubTransport { _ in .json("1") }) {
            $0.hooks.didComplete = { _, _ in calls.record("session") }
        }
        let task = client.call(.get, "a").jsonTask()
        var hooks = TaskHooks()
        hooks.didComplete = { _, _ in calls.record("task") }
        task.hooks = hooks
        task.resume()
        _ = try await task.value
        try await calls.wait(count: 2)
        #expect(calls.events == ["session", "task"])
    }

    @Test func aHookMayHoldItsTask() async throws {
        weak var released: DataTask<JSONValue?>?
        try await {
            let client = try makeClient(StubTransport { _ in .json("1") })
            let task = client.call(.get, "a").jsonTask()
            let done = Signal()
            var hooks = TaskHooks()
            hooks.didComplete = { _, _ in
                withExtendedLifetime(task) {}
                done.fire()
            }
            task.hooks = hooks
            task.resume()
            _ = try await task.value
            await done.wait()
            released = task
        }()
        while released != nil, !Task.isCancelled { await Task.yield() }
    }

    @Test func theEndOfTheSessionIsReportedOnce() async throws {
        let told = EventRecorder<String>()
        var configuration = HTTPSession.Configuration()
        configuration.sessionHooks.didBecomeInvalid = { told.record("invalid") }
        configuration.hooks.didComplete = { _, _ in told.record("completed") }
        let session = try HTTPSession(configuration: configuration, transport: StubTransport { _ in .json("1") })
        _ = try await session.call(makeRequest()).response()
        await session.shutdown()
        await session.shutdown(.immediate)
        _ = try? await session.call(makeRequest()).response()
        try await told.wait(count: 3)
        #expect(told.events == ["completed", "invalid", "completed"])
    }
}

extension HTTPField.Name {
    fileprivate static let link = HTTPField.Name("Link") ?? .accept
}

/// A transport with attempts that send the body in given pieces. The last attempt succeeds.
private struct RepeatingTransport: Transport {
    let pieces: [[Int]]

    func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        for attempt in pieces {
            for bytes in attempt { observer?.didSendBody(bytes: bytes) }
            observer?.didFinishAttempt(TransportMetrics())
        }
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
        return TransportResponse(head: head, body: TransportResponseBody(ByteBuffer(string: "1")))
    }

    func shutdown(_ mode: ShutdownMode) async {}
}

/// A transport that is redirected once, and tells of the bytes that it sends alone.
private struct RedirectingTransport: Transport {
    func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        observer?.didSendBody(bytes: 3)
        let isRedirected = request.head.path == "/b"
        let head = HTTPResponse(
            status: isRedirected ? .ok : .temporaryRedirect,
            headerFields: isRedirected ? [.contentType: "application/json"] : [.location: "/b"])
        return TransportResponse(head: head, body: TransportResponseBody(ByteBuffer(string: "1")))
    }

    func shutdown(_ mode: ShutdownMode) async {}
}
