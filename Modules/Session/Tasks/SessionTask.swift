public import LinnetSerialization
public import LinnetTransport
internal import Synchronization

/// A handle on a request, for any kind of task: its state, its progress, and the methods that control it.
///
/// All members can be used from any thread, at any time.
public protocol SessionTask: AnyObject, Sendable, Identifiable where ID == UInt64 {
    /// The task's ID, unique in the process.
    var id: UInt64 { get }
    /// The kind of task.
    var kind: TaskKind { get }
    /// The original request; nil if it could not be created, in which case the task fails.
    var originalRequest: SessionRequest? { get }
    /// A custom description of the task. Linnet includes it in events and never changes it.
    var taskDescription: String? { get set }
    /// The request's priority among the requests that wait for a connection. The default is `.normal`. It can be
    /// changed at any time, and takes effect while the request waits.
    var priority: RequestPriority { get set }
    /// The task's current state.
    var state: TaskState { get }
    /// The task's current progress.
    var progress: TaskProgress { get }
    /// The error of a failed task; nil before the end, and after a success.
    var error: SessionError? { get }

    /// Starts the task, or resumes it after a suspension.
    func resume()
    /// Suspends the task: it stops reading the response and producing the request's body. A task that was not started
    /// remains so. The timeout for the whole request keeps running.
    func suspend()
    /// Cancels the task, which ends with ``SessionError/Code/cancelled`` unless it has already ended.
    func cancel()

    /// The current state, then each new one, in order; ends after `completed`.
    var states: EventSequence<TaskState> { get }
    /// The current progress, then each change; a slow reader misses intermediate values, never the last.
    var progressUpdates: EventSequence<TaskProgress> { get }

    /// Calls a function with the current state, then with each new one, in order, on the session's callback executor.
    @discardableResult
    func onStateChange(_ observer: @escaping @Sendable (TaskState) -> Void) -> SessionObservation
    /// Calls a function with the current progress, then with each change, in order, on the session's callback executor.
    @discardableResult
    func onProgress(_ observer: @escaping @Sendable (TaskProgress) -> Void) -> SessionObservation
}

/// The kind of a task.
public struct TaskKind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// A request whose response is read into memory.
    public static let data = TaskKind("data")
    /// A request that uploads its body.
    public static let upload = TaskKind("upload")
    /// A request whose response is written to a file.
    public static let download = TaskKind("download")
    /// A request whose response is read as it arrives.
    public static let stream = TaskKind("stream")
}

/// The state of a task.
///
/// A task changes between `suspended` and `running` any number of times, and ends in `completed`; a task that is
/// cancelled while it runs is `cancelling` in between.
public enum TaskState: Sendable, Hashable {
    /// Not started yet, or suspended.
    case suspended
    /// Running.
    case running
    /// Cancelled, but not yet ended.
    case cancelling
    /// Ended. The state no longer changes.
    case completed
}

/// The tasks of a session that have not ended, without retaining them.
final class TaskRegistry: Sendable {
    private struct Entry {
        weak var task: (any EndableTask)?
    }

    private let entries = Mutex<[UInt64: Entry]>([:])

    func add(_ task: any EndableTask) {
        entries.withLock { $0[task.id] = Entry(task: task) }
    }

    func remove(_ id: UInt64) {
        _ = entries.withLock { $0.removeValue(forKey: id) }
    }

    /// The tasks in the order of their creation.
    var tasks: [any EndableTask] {
        entries.withLock { entries in
            entries.sorted { $0.key < $1.key }.compactMap(\.value.task)
        }
    }
}

/// A task that its session can end.
protocol EndableTask: SessionTask {
    /// Whether the task was ever resumed.
    var hasStarted: Bool { get }
    /// Ends the task with an error, unless it has ended.
    func fail(_ error: SessionError)
}

extension TransferTask: EndableTask {}
