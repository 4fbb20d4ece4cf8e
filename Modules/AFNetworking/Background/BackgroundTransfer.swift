package import FoundationEssentials
package import HTTPTypes
package import LinnetSession
package import LinnetTransport
internal import Synchronization

/// The end of a background transfer.
package struct BackgroundOutcome: Sendable {
    /// The head of the response, if there was one.
    package var head: HTTPResponse?
    /// The URL of the request.
    package var url: URL?
    /// The body of the response to an upload, or of an error page.
    package var body: Data?
    /// The file of a download before it is moved to its destination.
    package var file: URL?
    /// The error of a transfer that failed.
    package var error: SessionError?

    package init(
        head: HTTPResponse? = nil, url: URL? = nil, body: Data? = nil, file: URL? = nil, error: SessionError? = nil
    ) {
        (self.head, self.url, self.body, self.file, self.error) = (head, url, body, file, error)
    }
}

/// A task of a background session. The engine of the session transfers it.
package final class BackgroundTransfer: SessionTask {
    /// The kind of a transfer.
    package enum Content: Sendable {
        case download
        case upload(file: URL)
    }

    private struct State {
        var state = TaskState.suspended
        var hasStarted = false
        var progress = TaskProgress()
        var priority = RequestPriority.normal
        var description: String?
        var outcome: BackgroundOutcome?
        var onEnd: (@Sendable (BackgroundOutcome) -> Void)?
        var lastKey = 0
        var observers: [(key: Int, receive: Receiver)] = []

        /// Reports a change under the lock, so that all observers receive the changes in one order. Returns the steps
        /// that follow after the lock.
        func report(_ change: Change) -> [AfterUnlocking] {
            observers.compactMap { $0.receive(change) }
        }
    }

    private enum Change: Sendable {
        case state(TaskState)
        case progress(TaskProgress)
    }

    /// Resumes a reader: its executor can run it at once, and it may use the transfer.
    private typealias AfterUnlocking = () -> Void
    private typealias Receiver = @Sendable (Change) -> AfterUnlocking?

    /// The number of the task, which it keeps in later processes.
    package let number: Int
    package let content: Content
    package let originalRequest: SessionRequest?
    /// How often the engine tries to store the task.
    package let attempts: Int
    private let engine: any BackgroundEngine
    private let execute: BlockExecutor
    private let current: Mutex<State>

    /// Creates a transfer that has not started.
    init(
        number: Int, _ content: Content, of request: SessionRequest, attempts: Int, by engine: any BackgroundEngine,
        on queue: SessionQueue
    ) {
        self.number = number
        self.content = content
        originalRequest = request
        self.attempts = attempts
        self.engine = engine
        execute = { queue.execute($0) }
        current = Mutex(State())
    }

    /// Creates a transfer that an earlier process has started.
    ///
    /// - Parameters:
    ///   - number: The number of the task.
    ///   - content: The kind of the transfer.
    ///   - request: The request.
    ///   - description: The description that the program has given to the task.
    ///   - isSuspended: Whether the transfer waits until it is resumed.
    ///   - progress: The bytes so far.
    ///   - engine: The engine that transfers it.
    ///   - execute: Runs the functions of observers, in order.
    package init(
        adopted number: Int, _ content: Content, of request: SessionRequest, description: String?, isSuspended: Bool,
        progress: TransferProgress, by engine: any BackgroundEngine, execute: @escaping BlockExecutor
    ) {
        self.number = number
        self.content = content
        originalRequest = request
        attempts = 1
        self.engine = engine
        self.execute = execute
        var state = State()
        state.state = isSuspended ? .suspended : .running
        state.hasStarted = true
        state.description = description
        state.progress = Self.progress(progress, content)
        current = Mutex(state)
    }

    package var id: UInt64 { UInt64(number) }
    package var kind: TaskKind { if case .download = content { .download } else { .upload } }
    package var state: TaskState { current.withLock { $0.state } }
    package var progress: TaskProgress { current.withLock { $0.progress } }
    package var error: SessionError? { current.withLock { $0.outcome?.error } }

    package var taskDescription: String? {
        get { current.withLock { $0.description } }
        set { current.withLock { $0.description = newValue } }
    }

    package var priority: RequestPriority {
        get { current.withLock { $0.priority } }
        set { current.withLock { $0.priority = newValue } }
    }

    // MARK: Control

    package func resume() {
        let isFirst = change { state, report -> Bool? in
            guard state.state == .suspended else { return nil }
            defer { state.hasStarted = true }
            state.state = .running
            report(.state(.running))
            return !state.hasStarted
        }
        guard let isFirst else { return }
        if isFirst { engine.add(self) } else { engine.resume(self) }
    }

    package func suspend() {
        let isNew = change { state, report in
            guard state.state == .running else { return false }
            state.state = .suspended
            report(.state(.suspended))
            return true
        }
        if isNew { engine.suspend(self) }
    }

    package func cancel() {
        let hasStarted = change { state, report -> Bool? in
            guard state.state == .running || state.state == .suspended else { return nil }
            state.state = .cancelling
            report(.state(.cancelling))
            return state.hasStarted
        }
        switch hasStarted {
        case true?: engine.cancel(self)
        case false?: end(BackgroundOutcome(error: SessionError(.cancelled, "The task was cancelled.")))
        case nil: break
        }
    }

    // MARK: The engine

    /// Takes the bytes that were transferred.
    package func take(_ progress: TransferProgress) {
        change { state, report in
            let progress = Self.progress(progress, content)
            guard state.state != .completed, progress != state.progress else { return }
            state.progress = progress
            report(.progress(progress))
        }
    }

    /// Ends the transfer, unless it has ended.
    package func end(_ outcome: BackgroundOutcome) {
        let former = change { state, report -> State? in
            guard state.state != .completed else { return nil }
            state.state = .completed
            state.outcome = outcome
            report(.state(.completed))
            defer { (state.observers, state.onEnd) = ([], nil) }
            return state
        }
        withExtendedLifetime(former) { former?.onEnd?(outcome) }
    }

    /// Changes the state under the lock, and reports at most one change to the observers.
    private func change<Result>(_ body: (inout State, _ report: (Change) -> Void) -> Result) -> Result {
        let (result, steps) = current.withLock { state in
            var news: Change?
            let result = body(&state) { news = $0 }
            return (result, news.map(state.report) ?? [])
        }
        for step in steps { step() }
        return result
    }

    private static func progress(_ progress: TransferProgress, _ content: Content) -> TaskProgress {
        var both = TaskProgress()
        if case .download = content { both.download = progress } else { both.upload = progress }
        return both
    }

    // MARK: Observers

    /// Calls a function with the outcome, once; at once if the transfer has ended.
    func onEnd(_ function: @escaping @Sendable (BackgroundOutcome) -> Void) {
        let outcome = current.withLock { state in
            if state.outcome == nil { state.onEnd = function }
            return state.outcome
        }
        if let outcome { function(outcome) }
    }

    package var states: EventSequence<TaskState> {
        EventSequence { buffer in
            observe { change in
                guard case .state(let state) = change else { return nil }
                let resume = buffer.take(state)
                guard state == .completed else { return resume }
                return {
                    resume?()
                    buffer.finish()
                }
            }
        }
    }

    package var progressUpdates: EventSequence<TaskProgress> {
        EventSequence(coalescing: { _, _ in true }) { buffer in
            observe { change in
                switch change {
                case .progress(let progress): return buffer.take(progress)
                case .state(.completed): return { buffer.finish() }
                case .state: return nil
                }
            }
        }
    }

    @discardableResult
    package func onStateChange(_ observer: @escaping @Sendable (TaskState) -> Void) -> SessionObservation {
        observe { [execute] change in
            if case .state(let state) = change { execute { observer(state) } }
            return nil
        }
    }

    @discardableResult
    package func onProgress(_ observer: @escaping @Sendable (TaskProgress) -> Void) -> SessionObservation {
        observe { [execute] change in
            if case .progress(let progress) = change { execute { observer(progress) } }
            return nil
        }
    }

    /// Calls a function with the present progress and state, and with each change; it only passes them on.
    private func observe(_ receive: @escaping Receiver) -> SessionObservation {
        let (key, steps) = current.withLock { state in
            let steps = [receive(.progress(state.progress)), receive(.state(state.state))]
            state.lastKey += 1
            if state.state != .completed { state.observers.append((state.lastKey, receive)) }
            return (state.lastKey, steps)
        }
        for step in steps { step?() }
        return SessionObservation { [weak self] in
            let former = self?.current.withLock { state in
                state.observers.firstIndex { $0.key == key }.map { state.observers.remove(at: $0).receive }
            }
            withExtendedLifetime(former) {}
        }
    }
}
