internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// One request on its way over one connection, and who waits for its response.
final class HTTP1Exchange: @unchecked Sendable {
    // SAFETY: `request`, `observer`, `deadline` and `timeouts` never change; `isCancelled` is atomic; all else is touched
    // on the connection's event loop only, after `start` was called there.
    typealias Waiter = UnsafeContinuation<Outcome, Never>

    /// How an attempt ended.
    enum Outcome {
        case response(TransportResponse)
        case failure(TransportError, canRepeat: Bool)
    }

    let request: TransportRequest
    let observer: (any TransportObserver)?
    let timeouts: TransportTimeouts
    let deadline: NIODeadline?
    let isReusedConnection: Bool
    let isCancelled = Atomic(false)

    var waiter: Waiter?
    var metrics: TransportMetrics
    /// Bytes of a body that is handed over whole.
    var collected = ByteBuffer()
    var head: HTTPResponse?
    var bodyChannel: ResponseBodyChannel?
    var pump: Task<Void, Never>?
    var hasWrittenBytes = false
    var hasReceivedBytes = false

    init(
        request: TransportRequest, observer: (any TransportObserver)?, timeouts: TransportTimeouts,
        deadline: NIODeadline?, isReusedConnection: Bool, metrics: TransportMetrics
    ) {
        self.request = request
        self.observer = observer
        self.timeouts = timeouts
        self.deadline = deadline
        self.isReusedConnection = isReusedConnection
        self.metrics = metrics
    }

    var collects: Int? {
        if case .whole(let limit) = request.delivery { limit } else { nil }
    }

    /// Takes the bytes that belong to a whole body; false when they are more than the limit.
    func collect(_ bytes: inout ByteBuffer, limit: Int) -> Bool {
        guard collected.readableBytes + bytes.readableBytes <= limit else { return false }
        if collected.readableBytes == 0 {
            collected = bytes
        } else {
            collected.writeBuffer(&bytes)
        }
        return true
    }

    /// Whether the same request may be sent again on another connection: nothing came back, its body can be produced
    /// again, and either nothing went out, or the connection was an old one and the method may be repeated (RFC 9110,
    /// 9.2.2; RFC 9112, 9.3.1).
    var canRepeat: Bool {
        guard !hasReceivedBytes, request.body?.isReplayable ?? true else { return false }
        return !hasWrittenBytes || (isReusedConnection && request.head.method.isIdempotent)
    }

    func succeed(_ response: TransportResponse) {
        waiter?.resume(returning: .response(response))
        waiter = nil
    }

    func fail(_ error: TransportError, canRepeat: Bool = false) {
        pump?.cancel()
        pump = nil
        metrics.responseEnd = .now
        observer?.didFinishAttempt(metrics)
        bodyChannel?.finish(.failure(error))
        waiter?.resume(returning: .failure(error, canRepeat: canRepeat))
        waiter = nil
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
