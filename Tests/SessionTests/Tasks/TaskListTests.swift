import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct TaskListTests {
    @Test func tasksAreListedByKind() async throws {
        let session = Session(transport: StubTransport())
        let request = try makeRequest()
        let data = session.dataTask(for: request, serializer: DataResponseSerializer())
        let upload = session.uploadTask(for: request, from: .data(Data([1])), serializer: DataResponseSerializer())
        let download = session.downloadTask(for: request, to: URL(filePath: "/nowhere/x"))
        let stream = session.streamTask(for: request)
        #expect(session.tasks.map(\.id) == [data.id, upload.id, download.id, stream.id])
        #expect(session.tasks.map(\.kind) == [.data, .upload, .download, .stream])
        #expect(session.dataTasks.map(\.id) == [data.id])
        #expect(session.uploadTasks.map(\.id) == [upload.id])
        #expect(session.downloadTasks.map(\.id) == [download.id])
        #expect(session.streamTasks.map(\.id) == [stream.id])
        #expect(session.tasks.allSatisfy { $0.state == .suspended })
        session.cancelAll()
        #expect(session.tasks.isEmpty)
        #expect(download.error?.code == .cancelled)
    }

    @Test func tasksAreCancelledByTagAndByPath() async throws {
        let session = Session(transport: StubTransport())
        func task(_ path: String, tag: String? = nil) throws -> DataTask<Data> {
            var request = try makeRequest(path)
            request.options.tag = tag
            return session.dataTask(for: request, serializer: DataResponseSerializer())
        }
        let avatars = try task("api/avatars/1", tag: "images")
        let posts = try task("api/posts/1", tag: "posts")
        let post = try task("api/posts/2")
        session.cancelTasks(tagged: "images")
        #expect(avatars.state == .completed)
        #expect(session.tasks.map(\.id) == [posts.id, post.id])
        session.cancelTasks(pathPrefix: "/api/posts/2")
        #expect(session.tasks.map(\.id) == [posts.id])
        session.cancelTasks { $0.taskDescription == nil }
        #expect(session.tasks.isEmpty)
    }

    @Test func aDescriptionStaysAsItWasSet() async throws {
        let session = Session(transport: StubTransport())
        let task = try session.dataTask(for: makeRequest(), serializer: DataResponseSerializer())
        task.taskDescription = "mine"
        task.resume()
        _ = try await task.value
        #expect(task.taskDescription == "mine")
    }
}

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct InvalidationTests {
    @Test func invalidatingLetsWhatRunsFinish() async throws {
        let body = StubBody()
        let session = Session(transport: StubTransport { _ in .stream(body) })
        let running = try session.dataTask(for: makeRequest(), serializer: DataResponseSerializer())
        let waiting = try session.dataTask(for: makeRequest(), serializer: DataResponseSerializer())
        let progress = EventRecorder<Int64>()
        running.onProgress { progress.record($0.download.completed) }
        running.resume()
        body.send("a")
        try await progress.wait { $0.last == 1 }
        session.invalidate(cancellingTasks: false)
        #expect(waiting.error?.code == .shutDown)
        body.finish()
        #expect(try await running.value.value == Data("a".utf8))
    }

    @Test func invalidatingCanCancel() async throws {
        let body = StubBody()
        let session = Session(transport: StubTransport { _ in .stream(body) })
        let running = try session.dataTask(for: makeRequest(), serializer: DataResponseSerializer())
        running.resume()
        session.invalidate(cancellingTasks: true)
        #expect(await failure(of: running)?.code == .shutDown)
        let later = try session.dataTask(for: makeRequest(), serializer: DataResponseSerializer())
        later.resume()
        #expect(await failure(of: later)?.code == .shutDown)
    }

    @Test func theSuccessorHasTheSameConfiguration() async throws {
        try await withMockServer(handler: { .text($0.headerFields[.userAgent] ?? "none") }) { server in
            let first = try Session { $0.headerFields[.userAgent] = "Finch/1" }
            first.invalidate(cancellingTasks: true)
            let second = try first.successor()
            #expect(try await second.data(for: Request(url: server.url("/"))).value == Data("Finch/1".utf8))
            await second.shutdown()
        }
    }

    @Test func aSessionOverATransportNeedsAnotherForItsSuccessor() async throws {
        let session = Session(transport: StubTransport())
        let error = #expect(throws: SessionError.self) { try session.successor() }
        #expect(error?.code == .invalidConfiguration)
        let second = session.successor(over: StubTransport { _ in .status(200, body: Data("2".utf8)) })
        #expect(try await second.data(for: makeRequest()).value == Data("2".utf8))
    }
}
