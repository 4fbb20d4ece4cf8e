/// Sends one request and returns one response.
///
/// ``HTTPTransport`` is the one over sockets. A stub stands in for it in tests.
public protocol Transport: Sendable {
    /// Sends a request, and returns when its response is there as ``TransportRequest/delivery`` says.
    ///
    /// Cancelling the caller's task cancels the request, with ``TransportError/Code/cancelled``.
    func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse

    /// Executors on which tasks run that send many small requests: one for each event loop of the transport, none where
    /// there are no event loops. See ``HTTPTransport/taskExecutors``.
    var taskExecutors: [any TaskExecutor] { get }

    /// Ends the transport. Requests that come later fail with ``TransportError/Code/shutDown``.
    func shutdown(_ mode: ShutdownMode) async
}

extension Transport {
    /// None.
    public var taskExecutors: [any TaskExecutor] { [] }
}

/// How a transport ends.
public enum ShutdownMode: Sendable, Hashable {
    /// Running requests may finish, idle connections close.
    case graceful
    /// Running requests fail with ``TransportError/Code/shutDown``, all connections close.
    case immediate
}
