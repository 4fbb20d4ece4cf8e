public import FoundationEssentials
internal import LinnetMessages
public import LinnetSerialization
public import LinnetTransport
internal import Synchronization

/// A handle on a request: a ``DataTask``, an ``UploadTask``, a ``DownloadTask`` or a ``StreamTask``.
///
/// ```swift
/// let task = api.get("posts").task(as: [Post].self)
/// task.onProgress { print($0.download.fraction ?? 0) }
/// task.resume()
/// let response = try await task.value
/// ```
/// A task is created suspended. The session retains it from `resume()` to its end; a task that is deallocated before
/// `resume()` ends with ``SessionError/Code/cancelled``.
public final class TransferTask<Value: Sendable>: SessionTask {
    /// An event of a task.
    public enum Event: Sendable {
        /// The state when the subscription began, or a new state.
        case state(TaskState)
        /// The progress when the subscription began, or a change of it.
        case progress(TaskProgress)
        /// The task's end: always delivered, last and exactly once.
        case completed(Result<SessionResponse<Value>, SessionError>)
    }

    let driver: TaskDriver
    private let output: TaskOutput<Value>
    let executor: CallbackExecutor
    /// The state that a download or a stream shares with its handle.
    let link: TransferLink

    init(
        driver: TaskDriver, output: TaskOutput<Value>, executor: CallbackExecutor, link: TransferLink = .none
    ) {
        self.driver = driver
        self.output = output
        self.executor = executor
        self.link = link
    }

    deinit {
        driver.cancel(.cancelled(driver.request?.url))
    }

    /// The kind of task.
    public var kind: TaskKind { driver.kind }

    /// The task's ID, unique in the process.
    public var id: UInt64 { driver.id }

    /// The original request; nil if it could not be created, in which case the task fails.
    public var originalRequest: SessionRequest? { driver.request }

    /// A custom description of the task. Linnet includes it in events and never changes it.
    public var taskDescription: String? {
        get { driver.shared.withLock { $0.taskDescription } }
        set { driver.shared.withLock { $0.taskDescription = newValue } }
    }

    /// The task's own hooks, combined with the session's as ``TaskHooks`` describes. Set them before the task is
    /// started.
    public var hooks: TaskHooks? {
        get { driver.shared.withLock { $0.hooks } }
        set { driver.shared.replace(\.hooks, with: newValue) }
    }

    /// The request's priority among the requests that wait for a connection. The default is `.normal`. It can be
    /// changed at any time, and takes effect while the request waits.
    public var priority: RequestPriority {
        get { driver.priority }
        set { driver.setPriority(newValue) }
    }

    /// The task's current state.
    public var state: TaskState { driver.state }

    /// The task's current progress.
    public var progress: TaskProgress { driver.progress }

    /// The error of a failed task; nil before the task has ended, and after a success.
    public var error: SessionError? { driver.outcome?.error }

    /// The response or the error; nil before the task has ended.
    public var result: Result<SessionResponse<Value>, SessionError>? { driver.outcome.map(output.result) }

    /// The response when it is available. It can be awaited more than once.
    ///
    /// By then, the callback executor has the task's last hooks, events and callbacks; functions that are submitted to
    /// it later run after them.
    ///
    /// Awaiting it starts a task that was never started; a suspended task remains suspended. Cancelling the awaiting
    /// task ends the wait with ``SessionError/Code/cancelled``, and does not affect this task.
    public var value: SessionResponse<Value> {
        get async throws(SessionError) {
            if !hasStarted { resume() }
            return try await output.result(driver.waitForOutcome()).get()
        }
    }

    /// Starts the task, or resumes it after a suspension. The first steps of the request run on the caller's thread,
    /// until it waits for the first time.
    public func resume() {
        driver.resume(owner: self)
    }

    /// Suspends the task: it stops reading the response and producing the request's body.
    public func suspend() {
        driver.suspend()
    }

    /// Cancels the task, which ends with ``SessionError/Code/cancelled`` unless it has already ended. While a running
    /// transfer stops, the state is ``TaskState/cancelling``; bytes that arrive then are discarded, and a download
    /// leaves no file.
    public func cancel() {
        link.download?.setEnding(.discard)
        driver.cancel(.cancelled(driver.request?.url))
    }

    var hasStarted: Bool { driver.shared.withLock { $0.machine.hasStarted } }

    func fail(_ error: SessionError) {
        driver.cancel(error)
    }
}

/// The state that the work of some kinds of tasks shares with their handles.
enum TransferLink: Sendable {
    case none
    case download(DownloadLink)
    case stream(StreamLink)

    var download: DownloadLink? {
        if case .download(let link) = self { link } else { nil }
    }
}

extension TransferTask {
    /// The current state and progress, then each event, in order; ends after the completion. A slow reader misses only
    /// intermediate progress.
    public var events: EventSequence<Event> {
        driver.sequence(coalescing: { waiting, next in waiting.isProgress && next.isProgress }) { [output] news in
            Event(news, output)
        }
    }

    /// The current state, then each new one, in order; ends after `completed`.
    public var states: EventSequence<TaskState> {
        driver.sequence { $0.state }
    }

    /// The current progress, then each change; a slow reader misses intermediate values, never the last.
    public var progressUpdates: EventSequence<TaskProgress> {
        driver.sequence(coalescing: { _, _ in true }) { $0.progress }
    }

    /// Calls a function with the current state, then with each new one, in order, on the session's callback executor.
    @discardableResult
    public func onStateChange(_ observer: @escaping @Sendable (TaskState) -> Void) -> SessionObservation {
        driver.observe(on: executor, { $0.state }, observer)
    }

    /// Calls a function with the current progress, then with each change, in order, on the session's callback executor.
    @discardableResult
    public func onProgress(_ observer: @escaping @Sendable (TaskProgress) -> Void) -> SessionObservation {
        driver.observe(on: executor, { $0.progress }, observer)
    }

    /// Calls a function with the task's result, exactly once, on the session's callback executor, even if the task has
    /// ended.
    @discardableResult
    public func onCompletion(
        _ observer: @escaping @Sendable (Result<SessionResponse<Value>, SessionError>) -> Void
    ) -> SessionObservation {
        driver.observeOutcome(on: executor) { [output] in observer(output.result($0)) }
    }
}

// For other modules of the package, which would otherwise run unspecialized generic code.
extension TransferTask where Value == Data {
    /// Calls a function with the task's result, exactly once, at the place that reports it: before its hooks for the
    /// end, and without an executor, so that it must not block.
    package func onEnd(_ observer: @escaping @Sendable (Result<SessionResponse<Data>, SessionError>) -> Void) {
        driver.observeEnd { [output] in observer(output.result($0)) }
    }
}

extension TransferTask where Value == URL {
    /// Calls a function with the task's result, as the function for data does.
    package func onEnd(_ observer: @escaping @Sendable (Result<SessionResponse<URL>, SessionError>) -> Void) {
        driver.observeEnd { [output] in observer(output.result($0)) }
    }
}

extension TransferTask.Event {
    /// The event for an update; nil for a decision, which only the session reports.
    init?(_ news: TaskNews, _ output: TaskOutput<Value>) {
        switch news {
        case .state(let state): self = .state(state)
        case .progress(let progress): self = .progress(progress)
        case .completed(let outcome): self = .completed(output.result(outcome))
        case .decided: return nil
        }
    }

    fileprivate var isProgress: Bool {
        if case .progress = self { true } else { false }
    }
}

extension TaskNews {
    /// Whether it reports the end, as the state or as the outcome.
    var isOfTheEnd: Bool {
        switch self {
        case .state(let state): state == .completed
        case .completed: true
        case .progress, .decided: false
        }
    }

    var state: TaskState? {
        if case .state(let state) = self { state } else { nil }
    }

    var progress: TaskProgress? {
        if case .progress(let progress) = self { progress } else { nil }
    }
}

/// A handle on a request whose response is read into memory and decoded as a value.
public typealias DataTask<Value: Sendable> = TransferTask<Value>

/// A handle on a request with a body: bytes, a file, a stream or a multipart form.
public typealias UploadTask<Value: Sendable> = TransferTask<Value>

/// A handle on a request whose response is written to a file; the response's value is the file's URL.
public typealias DownloadTask = TransferTask<URL>

/// A handle on a request whose response is read as it arrives, from ``TransferTask/response``.
public typealias StreamTask = TransferTask<Void>
