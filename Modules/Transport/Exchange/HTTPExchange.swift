internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// One request on its way over one connection, and who waits for its response.
final class HTTPExchange: @unchecked Sendable {
    // SAFETY: `request`, `observer`, `deadline` and `timeouts` never change; `isCancelled` is atomic; all else is touched
    // on the connection's event loop only, after `start` was called there.
    typealias Waiter = UnsafeContinuation<Outcome, Never>

    /// How an attempt ended. The error of one that failed has its metrics.
    enum Outcome {
        case response(TransportResponse)
        /// Whether the policy permits to send the request again.
        case failure(TransportError, canRepeat: Bool)
        /// It was not begun, since its connection may not serve it any more.
        case withdrawn
    }

    let request: TransportRequest
    let observer: (any TransportObserver)?
    let timeouts: TransportTimeouts
    let deadline: NIODeadline?
    /// Whether the server may have closed the connection before the request.
    let mayBeStale: Bool
    let isCancelled = Atomic(false)

    var waiter: Waiter?
    var metrics: TransportMetrics
    /// Bytes of a body that is handed over whole.
    var collected = ByteBuffer()
    var head: HTTPResponse?
    /// The head's status; 0 before there is one.
    var statusCode = 0
    /// Carries a streamed body to its reader, until the exchange ends: the channel holds the exchange that long.
    var bodyChannel: ResponseBodyChannel?
    /// What produces a streamed request body, until the last byte or the end.
    var pump: (any RequestBodyProducer)?
    var requestProgress = RequestProgress.sending
    /// Writes of the body that the socket has not taken yet.
    var writesInFlight = 0
    /// The response's end, when it has come while the request was still being sent.
    private(set) var heldEnd: HeldEnd?
    var deadlines = Deadlines()
    var hasWrittenBytes = false
    var hasReceivedBytes = false
    /// The reader of a streamed body has enough for now.
    var isReadPaused = false
    /// The stream it runs on, where its connection has streams.
    var streamID = 0
    private(set) var hasEnded = false

    init(
        request: TransportRequest, observer: (any TransportObserver)?, timeouts: TransportTimeouts,
        deadline: NIODeadline?, mayBeStale: Bool, metrics: TransportMetrics
    ) {
        self.request = request
        self.observer = observer
        self.timeouts = timeouts
        self.deadline = deadline
        self.mayBeStale = mayBeStale
        self.metrics = metrics
    }

    /// The first byte of the request goes out now.
    func begin() {
        metrics.times.requestStart.tick = .now
        hasWrittenBytes = true
        deadlines = Deadlines(request: deadline)
    }

    // MARK: Ends

    /// What is known of the request if its connection ends now (RFC 9112, 9.3.1).
    var failureWithConnection: TransportMetrics.Failure {
        guard hasWrittenBytes else { return .notSent }
        return mayBeStale && !hasReceivedBytes ? .staleConnection : .other
    }

    /// A response that is complete while its request is not.
    struct HeldEnd {
        let trailers: HTTPFields?
    }

    /// The response's last byte is there, and the request is still being sent: ``complete(trailers:)`` follows once that is
    /// out or cut short.
    func hold(trailers: HTTPFields?) {
        metrics.times.responseEnd.tick = .now
        heldEnd = HeldEnd(trailers: trailers)
        deadlines.read = nil
    }

    /// Request and response are over. Nobody hears of it before ``handOver(_:)``.
    func complete(trailers: HTTPFields?) -> TransportResponseBody.Completion {
        end()
        return TransportResponseBody.Completion(trailers: trailers, metrics: metrics)
    }

    /// Tells who waits that the response is complete.
    func handOver(_ completion: TransportResponseBody.Completion) {
        if let bodyChannel = bodyChannel.take() {
            bodyChannel.finish(.success(completion))
        } else if let head {
            succeed(
                TransportResponse(
                    head: head, body: TransportResponseBody(.whole(collected, Boxed(completion))), metrics: metrics))
        }
    }

    func succeed(_ response: TransportResponse) {
        waiter?.resume(returning: .response(response))
        waiter = nil
    }

    func fail(_ error: TransportError, _ failure: TransportMetrics.Failure = .other) {
        metrics.failure = failure
        end()
        var error = error
        error.attempts = [metrics]
        bodyChannel.take()?.finish(.failure(error))
        let canRepeat = RepeatPolicy.permits(
            failure, method: request.head.method, isReplayable: request.body?.isReplayable ?? true)
        waiter?.resume(returning: .failure(error, canRepeat: canRepeat))
        waiter = nil
    }

    /// Gives the request back as it came. It has not begun.
    func withdraw() {
        waiter?.resume(returning: .withdrawn)
        waiter = nil
    }

    private func end() {
        hasEnded = true
        stopBody()
        deadlines = Deadlines()
        if heldEnd == nil { metrics.times.responseEnd.tick = .now }
        observer?.didFinishAttempt(metrics)
    }
}

extension HTTPRequest.Method {
    /// Whether sending it twice has the effect of sending it once (RFC 9110, 9.2.2).
    var isIdempotent: Bool {
        switch self {
        case .get, .head, .options, .trace, .put, .delete: true
        default: false
        }
    }
}
