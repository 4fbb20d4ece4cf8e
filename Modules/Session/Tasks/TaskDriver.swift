internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// Runs one task's work, notifies its observers, and holds the state of its handle.
///
/// One lock guards the state machine and its related state. The actions that the machine returns are performed after
/// the lock is released, and an outbox delivers updates in the order in which they happened.
final class TaskDriver: Sendable {
    /// The outcome of the task; the response of a success is in the output.
    typealias Outcome = Result<Void, SessionError>
    /// The work, which sets the output before it returns.
    typealias Work = @Sendable (TaskDriver) async throws(SessionError) -> Void

    struct Shared {
        var machine = TaskStateMachine()
        /// The transfers that wait until the task is resumed.
        var gate = Waiters<Bool>()
        var outbox = TaskOutbox()
        var outcome: Outcome?
        /// Whether ``didEnd`` was called.
        var hasEnded = false
        /// Whether the hooks and callbacks of the end were submitted.
        var hasToldOfEnd = false
        var work: Work?
        var runningTask: Task<Void, Never>?
        var waiters = Waiters<Outcome>()
        var lastKey: UInt64 = 0
        var taskDescription: String?
        var metrics: [TransportMetrics] = []
        var hooks: TaskHooks?
        var requestHooks: RequestHooks?
        var serializer: (any ResponseSerializer)?
        var isCounted = false
        var priority = RequestPriority.normal
        /// The request's place in the queue for a connection, if it had to wait.
        var place: WaitingPlace?
        var pace: ProgressPace
    }

    private let reporter: TaskReporter
    let request: SessionRequest?
    let output: any AnyTaskOutput
    let shared: Mutex<Shared>
    /// Called once, before any observer learns of the end.
    private let didEnd: @Sendable (UInt64, SessionError?) -> Void

    /// - Parameter progressInterval: The minimum time between two reports of progress.
    init(
        request: SessionRequest?, kind: TaskKind, hub: TaskEventHub, output: any AnyTaskOutput,
        progressInterval: Duration, didEnd: @escaping @Sendable (UInt64, SessionError?) -> Void, work: @escaping Work
    ) {
        reporter = TaskReporter(kind, request, hub: hub)
        self.request = request
        self.output = output
        self.didEnd = didEnd
        shared = Mutex(Shared(work: work, pace: ProgressPace(interval: progressInterval)))
        reporter.created()
    }

    var id: UInt64 { reporter.id }
    var kind: TaskKind { reporter.kind }
    var hub: TaskEventHub { reporter.hub }

    var state: TaskState { shared.withLock { $0.machine.state } }
    var progress: TaskProgress { shared.withLock { $0.progress(at: .now) } }
    var outcome: Outcome? { shared.withLock { $0.outcome } }

    // MARK: The handle's events

    /// Starts or resumes the work, and retains `owner` while the work runs.
    func resume(owner: any AnyObject & Sendable) {
        change { state in
            let action = state.machine.resume()
            if case .none = action { return {} }
            tell(.running, &state)
            let waiters = state.gate.takeAll()
            guard case .start = action, let work = state.work else {
                return { waiters.forEach { $0.resume(returning: true) } }
            }
            state.work = nil
            hub.latch?.enter()
            return { self.start(work, owner: owner) }
        }
    }

    func suspend() {
        change { state in
            if state.machine.suspend() {
                state.pace.pause()
                tell(.suspended, &state)
            }
            return {}
        }
    }

    func cancel(_ reason: @autoclosure () -> SessionError) {
        // Most handles are released after their end, when a reason would be made in vain.
        guard state != .completed else { return }
        let reason = reason()
        change { state in
            switch state.machine.cancel(reason) {
            case .none:
                return {}
            case .complete(let error):
                hub.latch?.enter()
                return self.end(&state, .failure(error))
            case .stop:
                tell(.cancelling, &state)
                let (waiters, task) = (state.gate.takeAll(), state.runningTask)
                return {
                    task?.cancel()
                    waiters.forEach { $0.resume(returning: true) }
                }
            }
        }
    }

    // MARK: The work

    private func start(_ work: @escaping Work, owner: any AnyObject & Sendable) {
        enterGroup()
        // Until it waits for the first time, it runs here: most requests are on their way then.
        let task = Task.immediate {
            let outcome: Outcome
            do throws(SessionError) {
                try await work(self)
                outcome = .success(())
            } catch {
                outcome = .failure(error)
            }
            complete(outcome)
            withExtendedLifetime(owner) {}
        }
        let isLate = shared.withLock { state in
            if state.outcome == nil { state.runningTask = task }
            return state.machine.state == .cancelling
        }
        if isLate { task.cancel() }
    }

    private func complete(_ outcome: Outcome) {
        change { state in
            var outcome = outcome
            switch state.machine.complete(successfully: outcome.error == nil) {
            case .none: return {}
            case .fail(var error):
                // The cancellation's reason is the error; the resume data comes from the work's own error.
                error.resumeData = outcome.error?.resumeData
                outcome = .failure(error)
            case .deliver: break
            }
            return self.end(&state, outcome)
        }
    }

    /// Records the end, and returns the action to perform after the lock is released.
    private func end(_ state: inout Shared, _ outcome: Outcome) -> () -> Void {
        state.outcome = outcome
        // Released after the lock. The place retains the connection pool, which a handle must release at its end.
        let former = (state.work, state.runningTask, state.place)
        (state.work, state.runningTask, state.place) = (nil, nil, nil)
        let timer = state.pace.end()
        state.publishProgress(at: nil)
        tell(.completed, &state)
        state.outbox.append(.completed(outcome))
        let gateWaiters = state.gate.takeAll()
        return { [output] in
            timer?.cancel()
            if outcome.error != nil { output.discard() }
            gateWaiters.forEach { $0.resume(returning: true) }
            withExtendedLifetime(former) {}
        }
    }

    /// Resumes the waiters for the outcome, after all observers were notified of the end.
    private func resumeWaiters(_ outcome: Outcome) {
        let waiters = shared.withLock { state in
            state.hasToldOfEnd = true
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    // MARK: Updates

    /// Adds a new state to the updates, unless it has no observer.
    private func tell(_ new: TaskState, _ state: inout Shared) {
        if state.outbox.hasObservers || hub.isWatched || TaskEventHub.notifications.isWatched {
            state.outbox.append(.state(new))
        }
    }

    /// Changes the state under the lock; then performs the returned action and delivers the updates.
    func change(_ body: (inout Shared) -> () -> Void) {
        let action = shared.withLock { body(&$0) }
        action()
        deliverNews()
    }

    func deliverNews() {
        guard shared.withLock({ $0.outbox.beginSending() }) else { return }
        while let (delivery, end) = shared.withLock({ $0.nextDelivery() }) {
            if let end { didEnd(id, end.error) }
            for observer in delivery.observers { observer(delivery.news) }
            if delivery.hasJustHappened { postEvent(about: delivery.news) }
        }
    }

    private func postEvent(about news: TaskNews) {
        switch news {
        case .state(.running): reporter.resumed(request, taskDescription)
        case .state(.suspended): reporter.suspended(request, taskDescription)
        case .decided(let decision): reporter.decided(decision, taskDescription)
        case .completed(let outcome):
            reporter.completed(
                request, outcome.error, completion(outcome), description: taskDescription,
                isCounted: shared.withLock { $0.isCounted }
            ) { completeHooks(outcome.error) }
            resumeWaiters(outcome)
        case .state, .progress: break
        }
    }

    private var taskDescription: String? { shared.withLock { $0.taskDescription } }
}

extension TaskDriver.Shared {
    /// Returns the next update to deliver, with the outcome if the update is the first one about the end.
    fileprivate mutating func nextDelivery() -> (TaskOutbox.Delivery, end: TaskDriver.Outcome?)? {
        guard let delivery = outbox.next() else { return nil }
        guard !hasEnded, delivery.news.isOfTheEnd else { return (delivery, nil) }
        hasEnded = true
        return (delivery, outcome)
    }

    /// The outcome, once the hooks and callbacks for it have been submitted.
    var toldOutcome: TaskDriver.Outcome? { hasToldOfEnd ? outcome : nil }
}

extension Result where Failure == SessionError {
    init(_ body: () async throws(SessionError) -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }

    var error: SessionError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
