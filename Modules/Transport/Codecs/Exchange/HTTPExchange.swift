internal import HTTPTypes
internal import LinnetMessages
internal import NIOCore
internal import Synchronization

/// A request on a connection and the caller that waits for its response.
final class HTTPExchange: @unchecked Sendable {
    // SAFETY: the constants never change; `isCancelled` is atomic; everything else
    // is accessed only on the connection's event loop once `start` was called there.
    typealias Waiter = UnsafeContinuation<Outcome, Never>

    /// The outcome of an attempt. The error of a failed one contains its metrics.
    enum Outcome {
        /// The result includes the answer that the request gave to its forwarding proxy; nil without one.
        case response(TransportResponse, toProxy: Boxed<ProxyAnswer>?)
        /// Whether the policy permits repeating the request.
        case failure(TransportError, canRepeat: Bool)
        /// The request was not started, since its connection may no longer be used for it.
        case withdrawn
    }

    let request: TransportRequest
    let observer: (any TransportObserver)?
    let timeouts: TransportTimeouts
    let deadline: NIODeadline?
    /// Whether the server may have closed the connection before the request.
    let mayBeStale: Bool
    /// Whether the body may wait for the challenge of a proxy.
    let mayAskProxyFirst: Bool
    let isCancelled = Atomic(false)

    var waiter: Waiter?
    var metrics: TransportMetrics
    /// The request's answer to its forwarding proxy; nil if the origin receives the request.
    var proxyAnswer: Boxed<ProxyAnswer>?
    /// The bytes of a body that is delivered at once.
    var collected = ByteBuffer()
    var head: HTTPResponse?
    /// The status of the head; 0 before it arrives.
    var statusCode = 0
    /// Whether the response has a content coding; nil until it is asked for, since most bodies are complete before
    /// that.
    private var isCoded: Bool?
    /// The channel of a streamed body. It retains the exchange until the exchange ends.
    var bodyChannel: ResponseBodyChannel?
    /// The bytes of a streamed body that have just arrived.
    private var arrived: [ByteBuffer] = []
    /// The producer of a streamed request body, until it ends.
    var pump: (any RequestBodyProducer)?
    var requestProgress = RequestProgress.sending
    /// The number of pending writes of the body.
    var writesInFlight = 0
    /// The end of a response that was complete before the request.
    private(set) var heldEnd: HeldEnd?
    var deadlines = Deadlines()
    /// The acknowledged part of the request, used while nothing else shows progress: the socket is full, or has
    /// accepted the request's last byte. Nil for small requests.
    var delivery: RequestDelivery?
    var hasWrittenBytes = false
    var hasReceivedBytes = false
    /// Whether the reader of a streamed body has enough buffers.
    var isReadPaused = false
    /// The stream of the exchange on an HTTP/2 connection.
    var streamID = 0
    private(set) var hasEnded = false

    init(
        request: TransportRequest, observer: (any TransportObserver)?, timeouts: TransportTimeouts,
        deadline: NIODeadline?, mayBeStale: Bool, mayAskProxyFirst: Bool = true, metrics: TransportMetrics
    ) {
        self.request = request
        self.observer = observer
        self.timeouts = timeouts
        self.deadline = deadline
        self.mayBeStale = mayBeStale
        self.mayAskProxyFirst = mayAskProxyFirst
        self.metrics = metrics
    }

    /// Called before the first byte of the request is written.
    func begin() {
        metrics.times.requestStart.tick = .now
        hasWrittenBytes = true
        deadlines = Deadlines(request: deadline)
    }

    // MARK: Ends

    /// The failure if the connection ends now (RFC 9112, 9.3.1).
    var failureWithConnection: TransportMetrics.Failure {
        guard hasWrittenBytes else { return .notSent }
        return mayBeStale && !hasReceivedBytes ? .staleConnection : .other
    }

    /// The end of a response that arrived before its request was sent completely.
    struct HeldEnd {
        let trailers: HTTPFields?
    }

    /// Records the end of a response that arrived before its request was sent completely. ``complete(trailers:)``
    /// follows when the request is sent or cut short.
    func hold(trailers: HTTPFields?) {
        metrics.times.responseEnd.tick = .now
        heldEnd = HeldEnd(trailers: trailers)
        deadlines.read = nil
    }

    /// Ends the exchange. ``handOver(_:)`` then delivers the completion.
    func complete(trailers: HTTPFields?) -> TransportResponseBody.Completion {
        end()
        return TransportResponseBody.Completion(trailers: trailers, metrics: metrics)
    }

    /// Delivers the completed response to the caller.
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
        waiter?.resume(returning: .response(response, toProxy: proxyAnswer.take()))
        waiter = nil
    }

    func fail(_ error: TransportError, _ failure: TransportMetrics.Failure = .other) {
        // Before `end()`, which reports the metrics.
        metrics.failure = failure
        end()
        var error = error
        error.attempts = [metrics]
        bodyChannel.take()?.finish(.failure(error))
        let canRepeat = RepeatPolicy.permits(
            failure, isIdempotent: request.head.isIdempotent, isReplayable: request.body?.isReplayable ?? true)
        waiter?.resume(returning: .failure(error, canRepeat: canRepeat))
        waiter = nil
    }

    /// Takes a request that has not been started.
    func withdraw() {
        waiter?.resume(returning: .withdrawn)
        waiter = nil
    }

    private func end() {
        // Bytes that arrived together with the end belong to the body.
        deliverArrived()
        hasEnded = true
        stopBody()
        deadlines = Deadlines()
        // A held response ended earlier, before its request.
        if heldEnd == nil { metrics.times.responseEnd.tick = .now }
        observer?.didFinishAttempt(metrics)
    }
}

/// The deadlines of an exchange.
struct Deadlines {
    var request: NIODeadline?
    var read: NIODeadline?
    var write: NIODeadline?
    /// When the body is sent without a `100 Continue`.
    var proceed: NIODeadline?

    var next: NIODeadline? {
        let end = NIODeadline.distantFuture
        let earliest = min(min(request ?? end, read ?? end), min(write ?? end, proceed ?? end))
        return earliest == end ? nil : earliest
    }

    /// The code and message of the deadline that has passed; `proceed` is not an error.
    func expired(at now: NIODeadline) -> (code: TransportError.Code, message: String)? {
        if let request, request <= now { return (.requestTimeout, "The request exceeded its timeout.") }
        if let write, write <= now {
            return (.writeTimeout, "The server stopped accepting the request body within the idle timeout.")
        }
        if let read, read <= now { return (.readTimeout, "The server sent nothing within the idle timeout.") }
        return nil
    }
}

/// Sending the request body.
extension HTTPExchange {
    /// The size of the smallest watched body. A smaller one is acknowledged at once, if at all.
    private static let leastWatched: Int64 = 4_096

    /// The progress of the request.
    enum RequestProgress {
        /// The socket has not accepted all of it, or its body waits for `100 Continue`.
        case sending
        /// The socket has accepted its last byte.
        case sent
        /// The rest of its body will not be sent.
        case cutShort
    }

    /// Starts pulling a streamed body from its reader into the connection.
    func pumpBody(
        length: Int64?, make: @escaping @Sendable () throws -> any TransportBodyReader, into host: some ExchangeHost,
        on eventLoop: any EventLoop
    ) {
        let pump = RequestBodyPump(host: NIOLoopBound(host, eventLoop: eventLoop), exchange: self)
        self.pump = pump
        pump.start(length: length, make: make)
    }

    /// Called when bytes of the body are passed to the socket. The write deadline runs while writes are pending, and
    /// restarts when one completes.
    func willSendBody() {
        writesInFlight += 1
        if writesInFlight == 1 { armWriteDeadline() }
    }

    /// Called when the socket has accepted the bytes of one write.
    func didSendBody(bytes count: Int) {
        // The socket can accept bytes after the end of the exchange, whose metrics have been reported.
        guard !hasEnded else { return }
        writesInFlight -= 1
        delivery = nil
        if writesInFlight == 0 { deadlines.write = nil } else { armWriteDeadline() }
        metrics.requestBodyBytes += Int64(count)
        observer?.didSendBody(bytes: count)
    }

    /// Restarts the write deadline.
    func armWriteDeadline() {
        guard requestProgress == .sending else { return }
        deadlines.write = timeouts.idleWrite.map { .after($0) }
    }

    /// Called when the socket has accepted the request's last byte. The read deadline starts.
    func bodyEnded(_ probe: SocketProbe? = nil) {
        guard requestProgress != .sent else { return }
        watchRestOfDelivery(probe)
        requestProgress = .sent
        metrics.isRequestBodyCutShort = false
        metrics.times.requestEnd.tick = .now
        deadlines.write = nil
        armReadDeadline()
    }

    /// Watches the unacknowledged bytes after the socket has accepted the request's last byte.
    private func watchRestOfDelivery(_ probe: SocketProbe?) {
        delivery = nil
        if metrics.requestBodyBytes >= Self.leastWatched { watchDelivery(probe) }
    }

    /// Stops sending the body, because the server has answered without it or the exchange is over.
    func stopBody() {
        pump?.stop()
        pump = nil
        guard requestProgress == .sending else { return }
        requestProgress = .cutShort
        metrics.isRequestBodyCutShort = request.body.map { $0.length != 0 } ?? false
        deadlines.write = nil
        deadlines.proceed = nil
        armReadDeadline()
    }
}

/// Whether a final response ends a request that is still being sent.
enum EarlyResponse {
    /// Whether the server may still want the rest of the body. A server that refuses the request or redirects it with
    /// its body (RFC 9110, 15.4.8 and 15.4.9) does not. One that accepts it may still be reading, and otherwise closes
    /// the connection (RFC 9112, 9.3) or resets the stream (RFC 9113, 8.1).
    static func wantsBody(status: Int) -> Bool {
        status < 400 && status != 307 && status != 308
    }
}

/// Receiving the response.
extension HTTPExchange {
    /// The size limit of a body that is delivered at once; nil for a streamed one.
    var collects: Int? {
        guard case .whole(let limit) = request.delivery else { return nil }
        return request.streamsUnsuccessfulResponses && statusCode >= 300 ? nil : limit
    }

    /// The size limit of the bytes that are collected in one buffer.
    var collectionLimit: Int { min(collects ?? .max, ByteBuffer.largestBody) }

    /// Sets the head. The caller has already parsed the status.
    func received(_ head: HTTPResponse, status: Int) {
        metrics.times.responseStart.tick = .now
        self.head = head
        statusCode = status
    }

    /// Adds bytes of the body. After the head of a streamed body, ``deliverArrived()`` delivers them. Returns an error
    /// if they exceed the limit.
    func received(_ bytes: inout ByteBuffer) -> TransportError? {
        metrics.responseBodyBytes += Int64(bytes.readableBytes)
        guard bodyChannel == nil else {
            arrived.append(bytes)
            return nil
        }
        let limit = collectionLimit
        guard collected.readableBytes + bytes.readableBytes <= limit else {
            return TransportError(.bodyTooLarge, "The response body exceeds the limit of \(limit) bytes.")
        }
        if collected.readableBytes == 0 {
            collected = bytes
        } else {
            collected.writeBuffer(&bytes)
        }
        return nil
    }

    /// Delivers the bytes that have arrived to the reader of a streamed body, after each read and before the body ends.
    func deliverArrived() {
        guard !arrived.isEmpty else { return }
        if let bodyChannel, !bodyChannel.push(arrived.gathered()) { pauseReading() }
        arrived.removeAll(keepingCapacity: true)
    }

    /// Whether the head of a streamed response has yet to be delivered.
    var awaitsStreamedDelivery: Bool {
        guard let head, waiter != nil else { return false }
        if collects == nil { return true }
        guard request.streamsCodedResponses else { return false }
        if let isCoded { return isCoded }
        let isCoded = head.headerFields.contains(.contentEncoding)
        self.isCoded = isCoded
        return isCoded
    }

    /// Delivers a streamed response: its head and the bytes that arrived with it.
    func deliverStreamed(by host: some ExchangeHost, on eventLoop: any EventLoop) {
        guard let head else { return }
        let host = NIOLoopBound(host, eventLoop: eventLoop)
        let channel = ResponseBodyChannel(
            runLater: { eventLoop.execute($0) },
            resumeReading: { eventLoop.execute { host.value.resumeReading(self) } },
            abandonExchange: { error in eventLoop.execute { host.value.cancel(self, error) } })
        bodyChannel = channel
        if collected.readableBytes > 0 {
            if !channel.push(collected) { pauseReading() }
            collected = ByteBuffer()
        }
        succeed(
            TransportResponse(
                head: head, body: TransportResponseBody(.stream(ResponseBodyReader(channel))), metrics: metrics))
    }

    /// Called after a read. The response shows progress from then on, and the way of the request no longer matters.
    func didRead() {
        if requestProgress != .sending { delivery = nil }
        armReadDeadline()
    }

    /// Restarts the read deadline, unless the request is still being sent, the response's reader is slow, or the
    /// response is complete.
    func armReadDeadline() {
        guard requestProgress != .sending, !isReadPaused, heldEnd == nil else { return }
        deadlines.read = timeouts.idleRead.map { .after($0) }
    }

    private func pauseReading() {
        isReadPaused = true
        deadlines.read = nil
    }
}

/// Tells the handlers below whether to keep the memory that each exchange needs, about 34 KB over TLS.
///
/// A connection whose first request may stay its only one does not keep it, unless that transfers much at once. Neither
/// does HTTP/2 for its SETTINGS and PINGs, since a connection that is idle may exchange them for hours.
struct ConnectionReuse {
    private var isAnnounced = false

    /// Called before an exchange is sent.
    mutating func announce(_ exchange: HTTPExchange, in context: ChannelHandlerContext) {
        guard exchange.metrics.isReusedConnection, !isAnnounced else { return }
        isAnnounced = true
        context.triggerUserOutboundEvent(ConnectionIsReused(), promise: nil)
    }

    /// Called when the connection has been idle for a while.
    mutating func rest(in context: ChannelHandlerContext) {
        isAnnounced = false
        context.triggerUserOutboundEvent(ConnectionRests(), promise: nil)
    }
}

/// Sent outbound when a connection gets another request, once until it rests: handlers keep memory for the next ones.
struct ConnectionIsReused {}

/// Sent outbound when a connection has been idle for a while: handlers free the memory that they can allocate again.
struct ConnectionRests {}
