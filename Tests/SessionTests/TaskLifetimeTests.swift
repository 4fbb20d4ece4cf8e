import FoundationEssentials
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Synchronization
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

    /// Uses a task while it is released.
    private final class Owner: Sendable {
        let task = Mutex<DataTask<Data>?>(nil)
        let released: Signal

        init(_ released: Signal) { self.released = released }

        deinit {
            let task = task.withLock { $0 }
            task?.taskDescription = "\(task?.state as Any)"
            task?.cancel()
            released.fire()
        }
    }

    /// Holds its owner until the task releases it.
    private struct OwnedSerializer: ResponseSerializer {
        let owner: Owner?

        func serialize(_ response: SerializedResponse) throws(SerializationError) -> Data { response.body }
    }

    /// Where a task holds an object of the program's, and what makes it release the object.
    enum Holder: CaseIterable {
        case removedObserver, removedFinalObserver, replacedHooks, hooksOfATaskThatEnded, workThatNeverStarted
    }

    @Test(arguments: Holder.allCases)
    func anObjectThatATaskReleasesCanUseTheTask(holder: Holder) async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .json("1") })
        let released = Signal()
        var owner: Owner? = Owner(released)
        let task = try session.call(makeRequest()).task(
            OwnedSerializer(owner: holder == .workThatNeverStarted ? owner : nil))
        owner?.task.withLock { $0 = task }
        var observation: SessionObservation?
        switch holder {
        case .removedObserver: observation = task.onStateChange { [owner] _ in withExtendedLifetime(owner) {} }
        case .removedFinalObserver: observation = task.onCompletion { [owner] _ in withExtendedLifetime(owner) {} }
        case .replacedHooks, .hooksOfATaskThatEnded:
            var hooks = TaskHooks()
            hooks.didComplete = { [owner] _, _ in withExtendedLifetime(owner) {} }
            task.hooks = hooks
        case .workThatNeverStarted: break
        }
        owner = nil
        switch holder {
        case .removedObserver, .removedFinalObserver: observation?.cancel()
        case .replacedHooks: task.hooks = nil
        case .hooksOfATaskThatEnded: task.resume()
        case .workThatNeverStarted: task.cancel()
        }
        await released.wait()
        await session.shutdown()
    }

    /// Ends an observation while it is released.
    private final class Subscriber: Sendable {
        let observation: SessionObservation
        let released: Signal

        init(_ observation: SessionObservation, _ released: Signal) {
            (self.observation, self.released) = (observation, released)
        }

        deinit {
            observation.cancel()
            released.fire()
        }
    }

    @Test func anObserverThatIsReleasedCanEndAnother() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .json("1") })
        let group = ProgressGroup()
        for subscribe in [
            { session.onEvent { [held = $0] _ in withExtendedLifetime(held) {} } },
            { group.onProgress { [held = $0] _ in withExtendedLifetime(held) {} } },
        ] as [@Sendable (Subscriber?) -> SessionObservation] {
            let released = Signal()
            subscribe(Subscriber(subscribe(nil), released)).cancel()
            await released.wait()
        }
        await session.shutdown()
    }

    /// Reads the policy of a session while it is released.
    private final class Evaluator: TrustEvaluator {
        let session = Mutex<HTTPSession?>(nil)
        let released: Signal

        init(_ released: Signal) { self.released = released }

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            .refused(TrustRefusal(.pinMismatch, "", trust: trust))
        }

        deinit {
            _ = session.withLock { $0?.securityPolicy }
            released.fire()
        }
    }

    @Test(arguments: [true, false])
    func aPolicyThatIsReplacedCanUseTheSession(isStubbed: Bool) async throws {
        let released = Signal()
        let session =
            isStubbed ? try HTTPSession(transport: StubTransport { _ in .json("1") }) : try HTTPSession()
        try {
            let evaluator = Evaluator(released)
            evaluator.session.withLock { $0 = session }
            try session.replaceSecurityPolicy(.everyHost(evaluator))
        }()
        try session.replaceSecurityPolicy(.systemTrust)
        await released.wait()
        await session.shutdown()
    }
}
