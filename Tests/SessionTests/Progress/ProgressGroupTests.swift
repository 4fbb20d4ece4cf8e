import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ProgressGroupTests {
    /// Bodies by the names of their requests.
    private func makeSession(_ bodies: [String: (body: StubTransport.Body, length: Int?)]) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration()
        configuration.progressInterval = .zero
        return try HTTPSession(
            configuration: configuration,
            transport: StubTransport { request in
                guard let (body, length) = bodies[request.head.path ?? ""] else { return .status(404) }
                var fields = HTTPFields()
                fields[.contentLength] = length.map { String($0) }
                return .stream(body, headerFields: fields)
            })
    }

    @Test func theUpdatesEndWithTheGroup() async {
        var group: ProgressGroup? = ProgressGroup()
        let updates = group?.updates
        group = nil
        var count = 0
        if let updates { for await _ in updates { count += 1 } }
        #expect(count == 1)
    }

    @Test func severalTasksHaveOneProgress() async throws {
        let (a, b) = (StubTransport.Body(), StubTransport.Body())
        let session = try makeSession(["/a": (a, 4), "/b": (b, 12)])
        let group = ProgressGroup()
        #expect(group.progress == ProgressGroup.Progress())
        let tasks = try ["a", "b"].map { name in
            try session.call(makeRequest(name)).task(DataResponseSerializer())
        }
        for task in tasks { group.add(task) }
        let told = EventRecorder<ProgressGroup.Progress>()
        group.onProgress { told.record($0) }
        #expect(group.progress.tasks == 2)
        for task in tasks { task.resume() }
        a.send("aa")
        try await told.wait { $0.last?.completed == 2 }
        #expect(group.progress.fraction == 0.25)
        b.send("bbb")
        try await told.wait { $0.last?.completed == 5 }
        #expect(group.progress.total == 16)
        #expect(group.progress.fraction == 0.375)
        a.send("aa")
        a.finish()
        try await told.wait { $0.last?.endedTasks == 1 }
        b.send("bbbbbbbbb")
        b.finish()
        let all = try await told.wait { $0.last?.isFinished == true }
        #expect(all.last?.fraction == 1)
        #expect(all.last?.completed == 16)
        #expect(all.filter(\.isFinished).count == 1)
        #expect(all.map(\.fraction) == all.map(\.fraction).sorted())
        #expect(all.map(\.completed) == all.map(\.completed).sorted())
    }

    @Test func aSumOfTotalsBeyondInt64IsUnknown() {
        var child = ProgressGroup.Progress()
        child.total = .max - 1
        let both = ProgressGroup.Progress([(child, 1), (child, 1)])
        #expect(both.total == nil)
        #expect(both.fraction == 0)
    }

    @Test func weightsCount() async throws {
        let (a, b) = (StubTransport.Body(), StubTransport.Body())
        let session = try makeSession(["/a": (a, 4), "/b": (b, nil)])
        let group = ProgressGroup()
        let first = try session.call(makeRequest("a")).task(DataResponseSerializer())
        let second = try session.call(makeRequest("b")).task(DataResponseSerializer())
        group.add(first, weight: 3)
        group.add(second)
        let told = EventRecorder<ProgressGroup.Progress>()
        group.onProgress { told.record($0) }
        first.resume()
        second.resume()
        a.send("aa")
        try await told.wait { $0.last?.fraction == 0.375 }
        // Its length is not known: its bytes count, its part does not before its end.
        b.send("bbbb")
        try await told.wait { $0.last?.completed == 6 }
        #expect(group.progress.fraction == 0.375)
        #expect(group.progress.total == nil)
        b.finish()
        try await told.wait { $0.last?.fraction == 0.625 }
        a.send("aa")
        a.finish()
        try await told.wait { $0.last?.isFinished == true }
    }

    @Test func aTaskThatFailsOrIsCancelledHasEnded() async throws {
        let session = try makeSession([:])
        let group = ProgressGroup()
        let failing = try session.call(makeRequest("a")).task(DataResponseSerializer())
        let cancelled = try session.call(makeRequest("b")).task(DataResponseSerializer())
        group.add(failing)
        group.add(cancelled)
        failing.resume()
        cancelled.cancel()
        var last: ProgressGroup.Progress?
        for await progress in group.updates {
            last = progress
            if progress.isFinished { break }
        }
        #expect(last?.fraction == 1)
        #expect(last?.endedTasks == 2)
    }

    @Test func groupsCanBeNested() async throws {
        let a = StubTransport.Body()
        let session = try makeSession(["/a": (a, 4)])
        let (outer, inner) = (ProgressGroup(), ProgressGroup())
        outer.add(inner)
        let task = try session.call(makeRequest("a")).task(DataResponseSerializer())
        let upload = try session.call(makeRequest("none", method: .post)).body(.data(Data("12345".utf8))).task(
            DataResponseSerializer())
        inner.add(task)
        inner.add(upload)
        let told = EventRecorder<ProgressGroup.Progress>()
        outer.onProgress { told.record($0) }
        #expect(outer.progress.tasks == 2)
        upload.resume()
        task.resume()
        // The upload counts its sent bytes.
        try await told.wait { $0.last?.endedTasks == 1 && $0.last?.completed == 5 }
        a.send("aaaa")
        a.finish()
        try await told.wait { $0.last?.isFinished == true }
        #expect(outer.progress.completed == 9)
    }

    @Test func aTaskThatHasEndedCanBeAdded() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data("abc".utf8)) })
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        task.resume()
        _ = try await task.value
        let group = ProgressGroup()
        group.add(task)
        for await progress in group.updates where progress.isFinished { break }
        #expect(group.progress.completed == 3)
    }
}
