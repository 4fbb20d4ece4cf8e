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
/// It is made suspended. The session keeps it alive from `resume()` to its end; one that is dropped before `resume()` ends
/// with ``SessionError/Code/cancelled``.
public final class TransferTask<Value: Sendable>: SessionTask {
    /// Something that happened to a task.
    public enum Event: Sendable {
        /// The state that the task had when the subscription began, or that it got since.
        case state(TaskState)
        /// The progress that it had, or has made since.
        case progress(TaskProgress)
        /// Its end: always there, always last, exactly once.
        case completed(Result<Response<Value>, SessionError>)
    }

    let driver: TaskDriver<Response<Value>>
    let executor: CallbackExecutor
    /// What a download or a stream shares with its handle.
    let link: TransferLink

    init(driver: TaskDriver<Response<Value>>, executor: CallbackExecutor, link: TransferLink = .none) {
        self.driver = driver
        self.executor = executor
        self.link = link
    }

    deinit {
        driver.cancel(.cancelled(driver.request?.url))
    }

    /// What the task is made for.
    public var kind: TaskKind { driver.kind }

    /// The task's number. No two requests of a process have the same.
    public var id: UInt64 { driver.id }

    /// The request as it was given; nil when it could not be made, and the task can only fail.
    public var originalRequest: Request? { driver.request }

    /// Words of your own about the task. Linnet never reads or writes them.
    public var taskDescription: String? {
        get { driver.shared.withLock { $0.taskDescription } }
        set { driver.shared.withLock { $0.taskDescription = newValue } }
    }

    /// What is called on the task's way beside the session's hooks. Those count that are set when the task is started.
    public var hooks: TaskHooks? {
        get { driver.shared.withLock { $0.hooks } }
        set { driver.shared.withLock { $0.hooks = newValue } }
    }

    /// How soon the request gets a connection, compared with others that wait for one. The default is `.normal`. It can
    /// be changed at any time, and counts while the request waits.
    public var priority: RequestPriority {
        get { driver.priority }
        set { driver.setPriority(newValue) }
    }

    /// Where the task stands.
    public var state: TaskState { driver.state }

    /// How far it has come.
    public var progress: TaskProgress { driver.progress }

    /// Why it failed; nil before its end and after a success.
    public var error: SessionError? { driver.outcome?.error }

    /// The response or the error; nil before the end.
    public var result: Result<Response<Value>, SessionError>? { driver.outcome }

    /// The response, once it is there; await it as often as you like.
    ///
    /// By then the task's last hooks, events and callbacks are on their way: what is handed to the session's callback
    /// executor from here on comes after them.
    ///
    /// Awaiting it starts a task that was never started; one that was suspended stays so. Cancelling the awaiting task ends the
    /// waiting with ``SessionError/Code/cancelled``, and leaves this task as it is.
    public var value: Response<Value> {
        get async throws(SessionError) {
            if !hasStarted { resume() }
            return try await driver.waitForOutcome().get()
        }
    }

    /// Starts the task, or lets it go on.
    public func resume() {
        driver.resume(owner: self)
    }

    /// Holds the task back: no more bytes of the response are read, none of the request's body are made.
    public func suspend() {
        driver.suspend()
    }

    /// Ends the task with ``SessionError/Code/cancelled``, unless it has ended. Where a transfer runs, that takes a
    /// moment, in which the state is ``TaskState/cancelling``; whatever arrives in it is dropped, and of a download nothing
    /// is left.
    public func cancel() {
        link.download?.setEnding(.discard)
        driver.cancel(.cancelled(driver.request?.url))
    }

    var hasStarted: Bool { driver.shared.withLock { $0.machine.hasStarted } }

    func fail(_ error: SessionError) {
        driver.cancel(error)
    }
}

/// What the work of some kinds of tasks shares with their handles.
enum TransferLink: Sendable {
    case none
    case download(DownloadLink)
    case stream(StreamLink)

    var download: DownloadLink? {
        if case .download(let link) = self { link } else { nil }
    }
}
