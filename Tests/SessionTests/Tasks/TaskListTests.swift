import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct TaskListTests {
    @Test func tasksAreListedByKind() async throws {
        let session = try HTTPSession(transport: StubTransport())
        let request = try makeRequest()
        let data = session.call(request).task(DataResponseSerializer())
        let upload = session.call(request).body(.data(Data([1]))).task(DataResponseSerializer())
        let download = session.call(request).downloadTask(to: URL(filePath: "/nowhere/x"))
        let stream = session.call(request).streamTask()
        let tasks = session.tasks
        #expect(tasks.map(\.id) == [data.id, upload.id, download.id, stream.id] as [UInt64])
        #expect(tasks.map(\.kind) == [.data, .upload, .download, .stream] as [TaskKind])
        #expect(session.tasks.allSatisfy { $0.state == .suspended })
        session.cancelAll()
        #expect(session.tasks.isEmpty)
        #expect(download.error?.code == .cancelled)
    }

    @Test func tasksAreCancelledByTagAndByPath() async throws {
        let session = try HTTPSession(transport: StubTransport())
        func task(_ path: String, tag: String? = nil) throws -> DataTask<Data> {
            var request = try makeRequest(path)
            request.options.tag = tag
            return session.call(request).task(DataResponseSerializer())
        }
        let avatars = try task("api/avatars/1", tag: "images")
        let posts = try task("api/posts/1", tag: "posts")
        let post = try task("api/posts/2")
        session.cancelTasks(tagged: "images")
        #expect(avatars.state == .completed)
        #expect(session.tasks.map(\.id) == [posts.id, post.id] as [UInt64])
        session.cancelTasks(pathPrefix: "/api/posts/2")
        #expect(session.tasks.map(\.id) == [posts.id] as [UInt64])
        session.cancelTasks { $0.taskDescription == nil }
        #expect(session.tasks.isEmpty)
    }

    @Test func aDescriptionStaysAsItWasSet() async throws {
        let session = try HTTPSession(transport: StubTransport())
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        task.taskDescription = "mine"
        task.resume()
        _ = try await task.value
        #expect(task.taskDescription == "mine")
    }
}

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct InvalidationTests {
    @Test func invalidatingLetsRunningTasksFinish() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let running = try session.call(makeRequest()).task(DataResponseSerializer())
        let waiting = try session.call(makeRequest()).task(DataResponseSerializer())
        let progress = EventRecorder<Int64>()
        running.onProgress { progress.record($0.download.completed) }
        running.resume()
        body.send("a")
        try await progress.wait { $0.last == 1 }
        session.startShutdown(.graceful)
        #expect(waiting.error?.code == .shutDown)
        body.finish()
        #expect(try await running.value.value == Data("a".utf8))
    }

    @Test func invalidatingCanCancel() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(transport: StubTransport { _ in .stream(body) })
        let running = try session.call(makeRequest()).task(DataResponseSerializer())
        running.resume()
        session.startShutdown(.immediate)
        #expect(await failure(of: running)?.code == .shutDown)
        let later = try session.call(makeRequest()).task(DataResponseSerializer())
        later.resume()
        #expect(await failure(of: later)?.code == .shutDown)
    }

    @Test func theSuccessorHasTheSameConfiguration() async throws {
        try await withMockServer(handler: { .text($0.headerFields[.userAgent] ?? "none") }) { server in
            let first = try HTTPSession { $0.headerFields[.userAgent] = "Finch/1" }
            first.startShutdown(.immediate)
            let second = try first.copy()
            #expect(
                try await second.call(SessionRequest(url: server.url("/"))).response().value == Data("Finch/1".utf8))
            await second.shutdown()
        }
    }

    @Test func aSessionOverATransportNeedsAnotherForItsSuccessor() async throws {
        let session = try HTTPSession(transport: StubTransport())
        let error = #expect(throws: SessionError.self) { try session.copy() }
        #expect(error?.code == .invalidConfiguration)
        let second = try session.copy(over: StubTransport { _ in .status(200, body: Data("2".utf8)) })
        #expect(try await second.call(makeRequest()).response().value == Data("2".utf8))
    }
}
