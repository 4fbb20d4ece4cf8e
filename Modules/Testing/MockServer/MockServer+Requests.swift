extension MockServer {
    /// Something that went wrong on a connection, by the client's doing: a refused handshake, a malformed request.
    public struct ConnectionFailure: Sendable, CustomStringConvertible {
        /// The connection's number, counted from 0.
        public var connectionIndex: Int
        /// What happened.
        public var description: String
    }

    /// The requests so far, in the order of their arrival.
    ///
    /// A request is recorded when its body is complete, or ended early (``RecordedRequest/isComplete`` is false then);
    /// in streamed mode it is recorded with its head, and brought up to date at its end.
    public var recordedRequests: [RecordedRequest] { log.requests }

    /// What clients did wrong so far.
    public var connectionFailures: [ConnectionFailure] { log.failures }

    /// The next request that this method has not returned yet; waits for it when it is not there.
    ///
    /// Fails with ``TestingError/Code/cancelled`` when the task is cancelled, and with ``TestingError/Code/shutDown``
    /// when the server is shut down and every request was returned.
    public func nextRequest() async throws(TestingError) -> RecordedRequest {
        try await log.next()
    }
}
