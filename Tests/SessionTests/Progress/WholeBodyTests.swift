import FoundationEssentials
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetSession

/// The body of a handle's response that arrives in one piece.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct WholeBodyTests {
    /// A handle that is suspended when it hears of its body.
    private final class SuspendedHandle: TransferObserver, TransferControl {
        private let state = Mutex<(reports: [Int], isSuspended: Bool)>(([], false))
        let isWaiting = Signal()
        let goOn = Signal()

        let taskID: UInt64 = 1
        let priority = RequestPriority.normal
        var isSuspended: Bool { state.withLock { $0.isSuspended } }
        /// The numbers of bytes that were reported.
        var reports: [Int] { state.withLock { $0.reports } }

        func decided(_ decision: TaskEvent.Decision) {}
        func willSendBody(length: Int64?) {}
        func willReceiveBody(length: Int64?) {}
        func willReceiveBody(length: Int64?, from offset: Int64) {}

        func didReceiveBody(bytes: Int) {
            state.withLock { state in
                if state.reports.isEmpty { state.isSuspended = true }
                state.reports.append(bytes)
            }
        }

        func waitWhileSuspended() async throws {
            isWaiting.fire()
            await goOn.wait()
            state.withLock { $0.isSuspended = false }
        }

        func commit() async throws {}
    }

    @Test func itIsReportedOnceAlsoIfTheHandleIsSuspendedThen() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(200, body: Data("abc".utf8)) })
        let handle = SuspendedHandle()
        var flight = try Flight(makeRequest())
        flight.observer = handle
        flight.control = handle
        let receiving = Task { [flight] in
            var flight = flight
            return try await session.engine.runWhole(&flight).1
        }
        await handle.isWaiting.wait()
        handle.goOn.fire()
        #expect(try await receiving.value == Data("abc".utf8))
        #expect(handle.reports == [3])
    }
}
