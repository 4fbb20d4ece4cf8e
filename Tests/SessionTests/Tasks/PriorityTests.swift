import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct PriorityTests {
    /// Holds the one connection with a first request while others queue up, and returns the order in which they were
    /// sent.
    private func order(
        of names: [String], _ prepare: @escaping @Sendable (Int, DataTask<Data>) -> Void,
        whileWaiting change: ([DataTask<Data>]) -> Void = { _ in }
    ) async throws -> [String] {
        let arrived = Signal()
        let goOn = Signal()
        let handler: MockServer.Handler = { request in
            if request.path == "/first" {
                arrived.fire()
                await goOn.wait()
            }
            return .text("x")
        }
        return try await withMockServer(handler: handler) { server in
            let session = try HTTPSession { $0.pool.connectionsPerOrigin = 1 }
            let first = try session.call(SessionRequest(url: server.url("/first"))).task(DataResponseSerializer())
            first.resume()
            await arrived.wait()
            var tasks: [DataTask<Data>] = []
            for (index, name) in names.enumerated() {
                let task = try session.call(SessionRequest(url: server.url("/" + name))).task(DataResponseSerializer())
                prepare(index, task)
                tasks.append(task)
                task.resume()
            }
            for task in tasks { while !task.driver.isWaitingForConnection, !Task.isCancelled { await Task.yield() } }
            change(tasks)
            goOn.fire()
            for task in tasks { _ = try await task.value }
            _ = try await first.value
            await session.shutdown()
            return server.recordedRequests.dropFirst().map { String($0.path.dropFirst()) }
        }
    }

    @Test func theRequestWithTheHigherPriorityIsSentFirst() async throws {
        let order = try await order(of: ["low", "normal", "high", "normal2"]) { index, task in
            task.priority = [.low, .normal, .high, .normal][index]
        }
        #expect(order.first == "high")
        #expect(order.last == "low")
    }

    @Test func aPriorityCanChangeWhileTheRequestWaits() async throws {
        let order = try await order(of: ["a", "b", "c"]) { _, _ in
        } whileWaiting: { tasks in
            tasks[2].priority = 1.0
            tasks[0].priority = 0
        }
        #expect(order == ["c", "b", "a"])
    }

    /// It changes after it was read, and before the place in the queue has it.
    @Test func aPriorityThatChangesWhileTheRequestIsQueuedIsNotLost() throws {
        let session = try HTTPSession(transport: StubTransport())
        let task = try session.call(makeRequest()).task(DataResponseSerializer())
        let (changed, applied) = (Signal(), EventRecorder<RequestPriority>())
        task.driver.willWait(
            WaitingPlace { [weak task] priority in
                if !changed.hasFired {
                    changed.fire()
                    task?.priority = .high
                }
                applied.record(priority)
            })
        #expect(applied.events.last == .high)
        withExtendedLifetime(task) {}
    }

    @Test func prioritiesAreNumbersFromZeroToOne() {
        #expect(RequestPriority(7).value == 1)
        #expect(RequestPriority(-1).value == 0)
        #expect(RequestPriority(.nan) == .normal)
        #expect(RequestPriority.low < .normal)
        #expect(RequestPriority.normal < .high)
    }
}

extension TaskDriver {
    fileprivate var isWaitingForConnection: Bool { shared.withLock { $0.place != nil } }
}
