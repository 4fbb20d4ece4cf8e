import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct CancellationTests {
    /// Answers never, and says when it was asked.
    private func makeHangingTransport(_ arrived: Signal) -> StubTransport {
        StubTransport { _ in
            arrived.fire()
            await Signal().wait()
            return .json("1")
        }
    }

    @Test func cancellingTheCallerCancelsTheTransfer() async throws {
        let arrived = Signal()
        let client = try makeClient(makeHangingTransport(arrived))
        let caller = Task { await Surface.async.send("x", with: client) }
        await arrived.wait()
        caller.cancel()
        #expect(await caller.value.error?.code == .cancelled)
    }

    @Test func aCancelledCallerGetsCancelled() async throws {
        let client = try makeClient(StubTransport { _ in .json("1") })
        let go = Signal()
        let caller = Task {
            await go.wait()
            return await Surface.async.send("x", with: client)
        }
        caller.cancel()
        go.fire()
        #expect(await caller.value.error?.code == .cancelled)
    }

    @Test func cancellingBeforeTheStartSendsNothing() async throws {
        let transport = StubTransport()
        let client = try makeClient(transport)
        let task = client.call(.get, "x").jsonTask()
        task.cancel()
        #expect(task.state == .completed)
        #expect(task.error?.code == .cancelled)
        task.resume()
        let result = await Result { () async throws(SessionError) in try await task.value }
        #expect(result.error?.code == .cancelled)
        #expect(transport.requests.isEmpty)
    }

    @Test func cancellingWhileItRunsEndsCancelled() async throws {
        let arrived = Signal()
        let client = try makeClient(makeHangingTransport(arrived))
        let task = client.call(.get, "x").jsonTask()
        task.resume()
        await arrived.wait()
        task.cancel()
        task.cancel()
        let result = await Result { () async throws(SessionError) in try await task.value }
        #expect(result.error?.code == .cancelled)
        #expect(task.state == .completed)
    }

    @Test func cancellingWhileTheBodyStreamsAbandonsIt() async throws {
        let body = StubTransport.Body()
        let client = try makeClient(StubTransport { _ in .stream(body) })
        let task = client.call(.get, "x").task()
        let progress = EventRecorder<TaskProgress>()
        task.onProgress { progress.record($0) }
        task.resume()
        body.send("abc")
        try await progress.wait { $0.last?.download.completed == 3 }
        task.cancel()
        await body.waitForAbandonment()
        #expect(await Result { () async throws(SessionError) in try await task.value }.error?.code == .cancelled)
        #expect(task.progress.download.completed == 3)
    }

    @Test func cancellingASuspendedTransferEndsCancelled() async throws {
        let body = StubTransport.Body()
        let client = try makeClient(StubTransport { _ in .stream(body) })
        let task = client.call(.get, "x").task()
        let progress = EventRecorder<TaskProgress>()
        task.onProgress { progress.record($0) }
        task.resume()
        body.send("abc")
        try await progress.wait { $0.last?.download.completed == 3 }
        task.suspend()
        task.cancel()
        #expect(await Result { () async throws(SessionError) in try await task.value }.error?.code == .cancelled)
        await body.waitForAbandonment()
    }

    @Test func cancellingAfterTheEndChangesNothing() async throws {
        let client = try makeClient(StubTransport { _ in .json("1") })
        let task = client.call(.get, "x").jsonTask()
        task.resume()
        _ = try await task.value
        task.cancel()
        #expect(task.state == .completed)
        #expect(task.error == nil)
        #expect(try await task.value.value == 1)
    }

    @Test func endingTheWaitDoesNotAffectTheTask() async throws {
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
        let waiter = Task { await Result { () async throws(SessionError) in try await task.value } }
        waiter.cancel()
        #expect(await waiter.value.error?.code == .cancelled)
        answer.fire()
        #expect(try await task.value.value == 1)
    }

    @Test func aHandleDroppedBeforeItsStartEndsCancelled() async throws {
        let client = try makeClient()
        let ends = EventRecorder<SessionError.Code?>()
        func drop() {
            let task = client.call(.get, "x").jsonTask()
            task.onCompletion { ends.record($0.error?.code) }
        }
        drop()
        #expect(try await ends.wait(count: 1) == [.cancelled])
        #expect(client.tasks.isEmpty)
    }

    @Test func cancelAllEndsEveryHandle() async throws {
        let arrived = Signal()
        let client = try makeClient(makeHangingTransport(arrived))
        let tasks = (0..<3).map { client.call(.get, "\($0)").jsonTask() }
        #expect(client.tasks.map(\.id) == tasks.map(\.id))
        tasks[0].resume()
        await arrived.wait()
        client.cancelAll()
        for task in tasks {
            #expect(await Result { () async throws(SessionError) in try await task.value }.error?.code == .cancelled)
        }
        #expect(client.tasks.isEmpty)
    }

    @Test func aRunningHandleNeedsNoReference() async throws {
        let client = try makeClient(StubTransport { _ in .json("1") })
        let ends = EventRecorder<Int>()
        do {
            let task = client.get("x").jsonTask()
            task.onCompletion { ends.record($0.error == nil ? 1 : 2) }
            task.resume()
        }
        #expect(try await ends.wait(count: 1) == [1])
    }
}
