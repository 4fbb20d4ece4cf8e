public import LinnetSerialization
public import LinnetTransport

/// A handle on a request, for any kind of task: its state, its progress, and the methods that control it.
///
/// All members can be used from any thread, at any time.
public protocol SessionTask: AnyObject, Sendable, Identifiable where ID == UInt64 {
    /// The task's ID, unique in the process.
    var id: UInt64 { get }
    /// The kind of task.
    var kind: TaskKind { get }
    /// The original request; nil if it could not be created, in which case the task fails.
    var originalRequest: Request? { get }
    /// A custom description of the task. Linnet includes it in events and never changes it.
    var taskDescription: String? { get set }
    /// The request's priority among the requests that wait for a connection. The default is `.normal`. It can be changed at any
    /// time, and takes effect while the request waits.
    var priority: RequestPriority { get set }
    /// The task's current state.
    var state: TaskState { get }
    /// The task's current progress.
    var progress: TaskProgress { get }
    /// The error of a failed task; nil before the task has ended, and after a success.
    var error: SessionError? { get }

    /// Starts the task, or resumes it after a suspension.
    func resume()
    /// Suspends the task: no more bytes of the response are read, and none of the request's body are produced. A task that was
    /// not started remains so. The timeout for the whole request keeps running.
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
