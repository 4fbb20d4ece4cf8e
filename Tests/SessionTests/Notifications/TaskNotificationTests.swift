import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

// Notifications of concurrent suites arrive too, so each test only looks at its own tag.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct TaskNotificationTests {
    private static func options(_ tag: String) -> RequestOptions {
        var options = RequestOptions()
        options.tag = "\(tag) \(UInt64.random(in: 0 ... .max))"
        return options
    }

    /// Notes the notifications of requests with a tag, until the observation is cancelled.
    private func record(_ options: RequestOptions) -> (EventRecorder<TaskNotification>, SessionObservation) {
        let recorder = EventRecorder<TaskNotification>()
        let observation = TaskNotifications.observe(on: .serial()) { notification in
            if notification.request?.options.tag == options.tag { recorder.record(notification) }
        }
        return (recorder, observation)
    }

    private static func name(_ notification: TaskNotification) -> String {
        switch notification.kind {
        case .didResume: "resume"
        case .didSuspend: "suspend"
        case .didComplete: "complete"
        }
    }

    private static func completion(_ notification: TaskNotification?) -> TaskCompletion? {
        if case .didComplete(let completion) = notification?.kind { completion } else { nil }
    }

    @Test(arguments: Surface.allCases)
    func aSuccessReportsAllItsFacts(surface: Surface) async throws {
        let options = Self.options("success")
        let (recorder, observation) = record(options)
        defer { observation.cancel() }
        let client = try makeClient(StubTransport { _ in .json("[1]") })
        _ = try await surface.send("a", options: options, with: client).get()
        try await recorder.wait(count: 2)
        #expect(recorder.events.map(Self.name) == ["resume", "complete"])
        #expect(Set(recorder.events.map(\.taskID)).count == 1)
        let completion = try #require(Self.completion(recorder.events.last))
        #expect(completion.serializer is JSONResponseSerializer)
        #expect(completion.body == Data("[1]".utf8))
        #expect(completion.value as? JSONValue? == [1])
        #expect(completion.head?.status == .ok)
        #expect(completion.file == nil)
        #expect(completion.error == nil)
        #expect(completion.metrics.count == 1)
    }

    @Test(arguments: Surface.allCases)
    func aFailureReportsItsError(surface: Surface) async throws {
        let options = Self.options("failure")
        let (recorder, observation) = record(options)
        defer { observation.cancel() }
        let client = try makeClient(StubTransport { _ in .json("[]", status: 404) })
        _ = await surface.send("a", options: options, with: client)
        try await recorder.wait(count: 2)
        let completion = try #require(Self.completion(recorder.events.last))
        #expect(completion.error?.code == .unacceptableStatus)
        #expect(completion.body == Data("[]".utf8))
        #expect(completion.value == nil)
        #expect(completion.head?.status == .notFound)
        #expect(completion.serializer is JSONResponseSerializer)
    }

    @Test func changesAreReportedOnceAndInOrder() async throws {
        let options = Self.options("order")
        let (recorder, observation) = record(options)
        defer { observation.cancel() }
        let body = StubTransport.Body()
        let client = try makeClient(StubTransport { _ in .stream(body) })
        let task = client.call(.get, "a").options(options).jsonTask()
        task.taskDescription = "mine"
        task.suspend()
        task.resume()
        task.resume()
        task.suspend()
        task.suspend()
        task.resume()
        body.send("1")
        body.finish()
        _ = try? await task.value
        task.resume()
        task.cancel()
        try await recorder.wait(count: 4)
        #expect(recorder.events.map(Self.name) == ["resume", "suspend", "resume", "complete"])
        #expect(recorder.events.allSatisfy { $0.taskID == task.id && $0.taskDescription == "mine" })
    }

    @Test func aHandleThatNeverRanOnlyCompletes() async throws {
        let options = Self.options("never")
        let (recorder, observation) = record(options)
        defer { observation.cancel() }
        let client = try makeClient()
        client.call(.get, "a").options(options).jsonTask().cancel()
        try await recorder.wait(count: 1)
        #expect(recorder.events.map(Self.name) == ["complete"])
        #expect(Self.completion(recorder.events.first)?.error?.code == .cancelled)
    }

    @Test func aDownloadReportsItsFile() async throws {
        let options = Self.options("download")
        let (recorder, observation) = record(options)
        defer { observation.cancel() }
        let file = FileManager.default.temporaryDirectory.appending(
            path: "linnet-note-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: file) }
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data("bytes".utf8)) })
        var request = try makeRequest()
        request.options = options
        _ = try await session.call(request).download(to: file)
        let task = session.call(request).downloadTask(to: file)
        task.resume()
        _ = try? await task.value
        try await recorder.wait(count: 4)
        #expect(recorder.events.map(\.taskKind) == [.download, .download, .download, .download])
        let first = try #require(Self.completion(recorder.events[1]))
        #expect(first.file?.lastPathComponent == file.lastPathComponent)
        #expect(first.body == nil)
        #expect(first.error == nil)
    }

    @Test func theSequenceHasTheNotificationsToo() async throws {
        let options = Self.options("sequence")
        let all = TaskNotifications.all
        let client = try makeClient(StubTransport { _ in .json("1") })
        _ = try await client.get("a").options(options).response(JSONResponseSerializer())
        var names: [String] = []
        for await notification in all where notification.request?.options.tag == options.tag {
            names.append(Self.name(notification))
            if names.last == "complete" { break }
        }
        #expect(names == ["resume", "complete"])
    }
}
