public import LinnetSerialization
public import LinnetTransport

/// A handle on a request, for any kind of task: its state, progress and control, as a user interface needs them.
///
/// All of it may be called from any thread, at any time.
public protocol SessionTask: AnyObject, Sendable, Identifiable where ID == UInt64 {
    /// The task's ID, unique in the process.
    var id: UInt64 { get }
    /// The kind of task.
    var kind: TaskKind { get }
    /// The request as it was given; nil when it could not be made, and the task can only fail.
    var originalRequest: Request? { get }
    /// A custom description of the task. Linnet never reads or writes it.
    var taskDescription: String? { get set }
    /// How soon the request gets a connection, compared with others that wait for one. The default is `.normal`. It can be
    /// changed at any time, and takes effect while the request waits.
    var priority: RequestPriority { get set }
    /// The task's current state.
    var state: TaskState { get }
    /// The task's current progress.
    var progress: TaskProgress { get }
    /// The error of a failed task; nil before its end and after a success.
    var error: SessionError? { get }

    /// Starts or continues the task.
    func resume()
    /// Suspends the task: no more bytes of the response are read, none of the request's body are produced. A task that was not
    /// started stays so. The timeout for the whole request keeps running.
    func suspend()
    /// Ends the task with ``SessionError/Code/cancelled``, unless it has ended.
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
