import FoundationEssentials
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

/// Only the app retains a task that has ended.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct TaskLifetimeTests {
    @Test(arguments: [true, false])
    func anEndedTaskIsReleasedAlsoWhenItsObserversHoldIt(succeeds: Bool) async throws {
        weak var released: DataTask<Data>?
        let session = try HTTPSession(transport: StubTransport { _ in succeeds ? .json("1") : .status(500) })
        try await {
            let task = try session.call(makeRequest()).task(DataResponseSerializer())
            released = task
            let ended = Signal()
            task.onStateChange { state in if state == .completed { _ = task.state } }
            task.onProgress { _ in _ = task.state }
            task.onCompletion { _ in
                _ = task.state
                ended.fire()
            }
            task.resume()
            await ended.wait()
        }()
        await session.shutdown()
        // The runner of the task releases it last; the time limit is for a task that is never released.
        while released != nil, !Task.isCancelled { await Task.yield() }
    }
}
