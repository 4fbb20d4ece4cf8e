import HTTPTypes
import LinnetAFNetworking
import LinnetSerialization
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct CompletionGroupTests {
    @Test(arguments: [false, true])
    func theGroupCountsRunningRequests(hasHandle: Bool) async throws {
        let group = CompletionGroup()
        let gate = Signal()
        let arrived = Signal()
        let client = try makeClient(
            StubTransport { _ in
                arrived.fire()
                await gate.wait()
                return .json("1")
            }
        ) { $0.completionGroup = group }
        #expect(group.count == 0)
        await group.wait()
        let call = client.get("a")
        let request = Task {
            hasHandle ? try await call.jsonTask().value : try await call.response(JSONResponseSerializer())
        }
        await arrived.wait()
        #expect(group.count == 1)
        let notified = EventRecorder<Int>()
        group.notify(on: .serial()) { notified.record(group.count) }
        #expect(notified.events.isEmpty)
        gate.fire()
        _ = try await request.value
        await group.wait()
        #expect(group.count == 0)
        try await notified.wait(count: 1)
        #expect(notified.events == [0])
    }

    @Test func callbacksComeBeforeTheEndOfTheGroup() async throws {
        let group = CompletionGroup()
        let calls = EventRecorder<Void>()
        let client = try makeClient(StubTransport { _ in .json("1") }) { $0.completionGroup = group }
        for index in 0..<20 {
            let task = client.get("\(index)").jsonTask()
            task.onCompletion { _ in calls.record(()) }
            task.resume()
        }
        await group.wait()
        #expect(calls.events.count == 20)
    }

    @Test func requestsThatNeverRanDoNotCount() async throws {
        let group = CompletionGroup()
        let client = try makeClient { $0.completionGroup = group }
        let task = client.call(.get, "a").jsonTask()
        #expect(group.count == 0)
        task.cancel()
        group.enter()
        let other = client.call(.get, "b").jsonTask()
        other.resume()
        _ = try? await other.value
        group.leave()
        await group.wait()
        #expect(group.count == 0)
        group.leave()
        #expect(group.count == 0)
    }

    @Test func cancellationEndsOnlyTheWait() async throws {
        let group = CompletionGroup()
        group.enter()
        let waiting = Task { await group.wait() }
        waiting.cancel()
        await waiting.value
        #expect(group.count == 1)
    }
}
