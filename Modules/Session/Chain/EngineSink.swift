internal import LinnetTransport

/// Observes one request, and can hold its bytes back. Only handles have one; other requests incur no cost.
protocol EngineSink: AnyObject, TransportObserver {
    /// The number of the task.
    var taskID: UInt64 { get }
    /// A request is about to go out with this many bytes of body; nil when the number is unknown.
    func willSendBody(length: Int64?)
    /// The head of a response is there, which promises this many bytes of body; nil when it does not say.
    func willReceiveBody(length: Int64?)
    /// The head of a response is there that is the rest of what has come before: its body begins at this byte of the
    /// whole, whose length is nil when it does not say.
    func willReceiveBody(length: Int64?, from offset: Int64)
    /// Some more bytes of the response's body were taken.
    func didReceiveBody(bytes: Int)
    /// Returns when bytes may flow. Throws `CancellationError` when the caller's task was cancelled.
    func passGate() async throws
    /// Returns when what cannot be undone may be done, such as to put a file in its place: from then on the task can be
    /// neither suspended nor cancelled. Throws `CancellationError` when it was cancelled before.
    func commit() async throws
}
