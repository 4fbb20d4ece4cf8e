public import LinnetSerialization
public import LinnetTransport

/// A handle on a request: whatever a user interface or a list of transfers needs to know, of any kind of task.
///
/// All of it may be called from any thread, at any time.
public protocol SessionTask: AnyObject, Sendable, Identifiable where ID == UInt64 {
    /// The task's number. No two requests of a process have the same.
    var id: UInt64 { get }
    /// What the task is made for.
    var kind: TaskKind { get }
    /// The request as it was given; nil when it could not be made, and the task can only fail.
    var originalRequest: Request? { get }
    /// Words of your own about the task. Linnet never reads or writes them.
    var taskDescription: String? { get set }
    /// How soon the request gets a connection, compared with others that wait for one. The default is `.normal`. It can
    /// be changed at any time, and counts while the request waits.
    var priority: RequestPriority { get set }
    /// Where the task stands.
    var state: TaskState { get }
    /// How far it has come.
    var progress: TaskProgress { get }
    /// Why it failed; nil before its end and after a success.
    var error: SessionError? { get }

    /// Starts the task, or lets it go on.
    func resume()
    /// Holds the task back: no more bytes of the response are read, none of the request's body are made. A task that
    /// was not started stays so. The timeout for the whole request goes on.
    func suspend()
    /// Ends the task with ``SessionError/Code/cancelled``, unless it has ended.
    func cancel()

    /// The state that it has, then each one that it gets, in order; ends after `completed`.
    var states: EventSequence<TaskState> { get }
    /// The progress that it has, then each change; a slow reader misses those in between, never the last.
    var progressUpdates: EventSequence<TaskProgress> { get }

    /// Calls a function with the state that the task has, and then with each one that it gets, in order, on the
    /// session's callback executor.
    @discardableResult
    func onStateChange(_ observer: @escaping @Sendable (TaskState) -> Void) -> SessionObservation
    /// Calls a function with the progress that the task has, and then with each change, in order, on the session's
    /// callback executor.
    @discardableResult
    func onProgress(_ observer: @escaping @Sendable (TaskProgress) -> Void) -> SessionObservation
}
