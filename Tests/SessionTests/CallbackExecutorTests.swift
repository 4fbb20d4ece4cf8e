import Dispatch
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct CallbackExecutorTests {
    /// The callbacks of a request, each with the number that the key has where it was called.
    private func calls(on executor: CallbackExecutor, _ key: DispatchSpecificKey<Int>) async throws -> [String] {
        let calls = EventRecorder<String>()
        let note: @Sendable (String) -> Void = { name in
            calls.record("\(name) on \(DispatchQueue.getSpecific(key: key) ?? 0)")
        }
        let client = try makeClient(StubTransport { _ in .json("[1]") }) {
            $0.callbackExecutor = executor
            $0.hooks.didComplete = { _, _ in note("completed") }
        }
        let task = client.get("x").jsonTask()
        task.onProgress { _ in note("progress") }
        task.onCompletion { note($0.error == nil ? "success" : "failure") }
        task.resume()
        // The executor is serial, and the hook for the end comes last.
        let all = try await calls.wait { $0.last?.hasPrefix("completed") == true }
        #expect(all.count(where: { $0.hasPrefix("success") }) == 1)
        return all
    }

    @Test func callbacksAreCalledOnAQueue() async throws {
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "linnet.test.callbacks")
        queue.setSpecific(key: key, value: 1)
        let all = try await calls(on: .queue(queue), key)
        #expect(Set(all) == ["progress on 1", "success on 1", "completed on 1"])
    }

    /// The process of the tests services the main queue. The test runs on another thread, and blocks none.
    @Test func callbacksAreCalledOnTheMainQueue() async throws {
        let key = DispatchSpecificKey<Int>()
        DispatchQueue.main.setSpecific(key: key, value: 2)
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        let all = try await calls(on: .main, key)
        #expect(Set(all) == ["progress on 2", "success on 2", "completed on 2"])
    }

    @Test func theDefaultIsNotTheMainQueue() async throws {
        let key = DispatchSpecificKey<Int>()
        DispatchQueue.main.setSpecific(key: key, value: 2)
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        let all = try await calls(on: HTTPSession.Configuration().callbackExecutor, key)
        #expect(Set(all) == ["progress on 0", "success on 0", "completed on 0"])
    }
}
