import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// The reports about ends, and their order.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct EndingOrderTests {
    private let told = EventRecorder<String>()

    private func client(_ transport: StubTransport) throws -> HTTPSession {
        try makeClient(transport) { [told] in
            $0.hooks.didComplete = { context, _ in told.record("completed \(context.request.url.path())") }
            $0.sessionHooks.didBecomeInvalid = { told.record("invalid") }
        }
    }

    @Test(arguments: Surface.allCases)
    func theSessionEndsAfterItsRunningRequests(surface: Surface) async throws {
        let (arrived, answer) = (Signal(), Signal())
        let client = try client(
            StubTransport { _ in
                arrived.fire()
                await answer.wait()
                return .json("1")
            })
        let request = Task { await surface.send("a", with: client) }
        await arrived.wait()
        // The stub's connections are gone at once.
        client.startShutdown(.graceful)
        #expect(told.events.isEmpty)
        answer.fire()
        _ = try await request.value.get()
        await client.shutdown()
        try await told.wait(count: 2)
        #expect(told.events == ["completed /api/a", "invalid"])
    }

    @Test func theSessionEndsAfterTheCallbacks() async throws {
        let (arrived, answer) = (Signal(), Signal())
        let client = try client(
            StubTransport { _ in
                arrived.fire()
                await answer.wait()
                return .json("1")
            })
        let task = client.get("a").jsonTask()
        task.onCompletion { [told] _ in told.record("success") }
        task.resume()
        await arrived.wait()
        client.startShutdown(.graceful)
        answer.fire()
        try await told.wait(count: 3)
        #expect(told.events.last == "invalid")
    }

    @Test func theSessionEndsAfterHandlesThatNeverRan() async throws {
        let client = try client(StubTransport())
        let tasks = (0..<20).map { client.call(.get, "\($0)").jsonTask() }
        await client.shutdown(.immediate)
        try await told.wait(count: 21)
        #expect(told.events == tasks.indices.map { "completed /api/\($0)" } + ["invalid"])
    }

    @Test func theSessionEndsAfterAStreamThatIsRead() async throws {
        let client = try client(StubTransport { _ in .json("1") })
        let stream = try await client.call(makeRequest("s")).bytes()
        await client.shutdown()
        #expect(told.events.isEmpty)
        _ = try await stream.body.collect(upTo: 10)
        try await told.wait(count: 2)
        #expect(told.events == ["completed /s", "invalid"])
    }

    @Test func laterRequestsDoNotEndTheSessionAgain() async throws {
        let client = try client(StubTransport())
        await client.shutdown()
        try await told.wait(count: 1)
        for surface in Surface.allCases { _ = await surface.send("a", with: client) }
        await client.shutdown()
        try await told.wait(count: 4)
        #expect(told.events == ["invalid", "completed /api/a", "completed /api/a", "completed /api/a"])
    }

    /// By the time that `value` is there, the last hook has been handed to the callback executor.
    @Test func theLastHookIsSubmittedBeforeTheValueIsAvailable() async throws {
        let client = try makeClient(StubTransport { _ in .json("1") }) { [told] in
            $0.hooks.didComplete = { _, _ in told.record("completed") }
            $0.callbackExecutor = .custom { $0() }
        }
        for round in 1...500 {
            let task = client.call(.get, "a").jsonTask()
            task.resume()
            _ = try await task.value
            #expect(told.events.count == round)
        }
    }
}
