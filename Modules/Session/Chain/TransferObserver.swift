internal import FoundationEssentials
internal import LinnetTransport

/// Observes the transfer of one request. Only requests with a handle or with hooks have one.
protocol TransferObserver: AnyObject, TransportObserver {
    /// The number of the task.
    var taskID: UInt64 { get }
    /// A request is about to be sent with this many bytes of body; nil if the number is unknown.
    func willSendBody(length: Int64?)
    /// The head of a response arrived, with the declared length of its body; nil if it declares none.
    func willReceiveBody(length: Int64?)
    /// The head of a response arrived that continues an earlier body: it begins at this byte of the whole. The length
    /// of the whole is nil if it is not declared.
    func willReceiveBody(length: Int64?, from offset: Int64)
    /// More bytes of the response's body were read.
    func didReceiveBody(bytes: Int)
    /// The whole body of a response arrived with its head, which declares this length.
    func didReceiveWholeBody(bytes: Int, length: () -> Int64?)
    /// An attempt ended that was made beside the first one, whose progress is the one of the request.
    func didFinishHedge(_ metrics: TransportMetrics)
}

extension TransferObserver {
    func didReceiveWholeBody(bytes: Int, length: () -> Int64?) {
        willReceiveBody(length: length())
        didReceiveBody(bytes: bytes)
    }

    func didFinishHedge(_ metrics: TransportMetrics) {}
}

/// Controls the transfer of one request. Only requests with a handle have one.
protocol TransferControl: AnyObject, Sendable {
    /// The priority among the requests that wait for a connection.
    var priority: RequestPriority { get }
    /// Whether the transfer is suspended.
    var isSuspended: Bool { get }
    /// Returns once the transfer is not suspended. Throws `CancellationError` if the caller's task was cancelled.
    func waitWhileSuspended() async throws
    /// Returns when an irreversible step may be done, such as moving a file to its place. Afterwards the task can be
    /// neither suspended nor cancelled. Throws `CancellationError` if it was cancelled before.
    func commit() async throws
    /// Reports a decision on the request.
    func decided(_ decision: TaskEvent.Decision)
}

extension (any TransferControl)? {
    /// Waits until the transfer is not suspended.
    func waitWhileSuspended(_ url: URL) async throws(SessionError) {
        guard let self else { return }
        do {
            try await self.waitWhileSuspended()
        } catch {
            throw SessionError(thrown: error, url: url)
        }
    }

    /// Waits until an irreversible step may be done.
    func commit(_ url: URL) async throws(SessionError) {
        guard let self else { return }
        do {
            try await self.commit()
        } catch {
            throw SessionError(thrown: error, url: url)
        }
    }
}
