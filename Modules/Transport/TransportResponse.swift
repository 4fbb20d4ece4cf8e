public import HTTPTypes

/// A response as it came from the wire.
public struct TransportResponse: Sendable {
    /// Status and header fields.
    public var head: HTTPResponse
    /// The bytes after the head.
    public var body: TransportResponseBody
    /// What this attempt cost until the response was handed over. For a streamed body the complete figures are in
    /// ``TransportResponseBody/completion`` after its end.
    public var metrics: TransportMetrics
    /// What the attempts before this one cost that the transport made, in order, each with its
    /// ``TransportMetrics/failure``. The default is none.
    public var earlierAttempts: [TransportMetrics] = []

    /// Makes a response; for stubs and caches.
    public init(head: HTTPResponse, body: TransportResponseBody, metrics: TransportMetrics = TransportMetrics()) {
        self.head = head
        self.body = body
        self.metrics = metrics
    }
}
