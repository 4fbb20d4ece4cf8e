internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// The last link of the chain: makes the request into what goes to the wire, and hands it to the transport.
struct TransportLink: Sendable {
    let transport: any Transport
    let permission: NetworkPermission
    /// Whether coded bodies are decoded as they arrive.
    let streamsCodedResponses: Bool
    /// The origin of the session's base URL.
    let baseOrigin: KnownOrigin?

    @inline(never)
    func send(
        _ request: SessionRequest, _ exchange: Exchange, timeouts: TransportTimeouts
    ) async throws(SessionError) -> StreamedResponse {
        let wire = try wire(request, exchange, timeouts)
        let response: TransportResponse
        do {
            response =
                transport.enforcesRequestTimeout
                ? try await transport.send(wire, observer: exchange.call.observer)
                : try await sendUntilCancelled(wire, exchange.call.observer)
        } catch {
            throw failed(error, request)
        }
        return received(response, to: request)
    }

    /// Sends by a transport that does not know of deadlines, and may not know of cancellation either.
    @inline(never)
    private func sendUntilCancelled(
        _ request: TransportRequest, _ observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        do {
            return try await untilCancelled { [transport] in try await transport.send(request, observer: observer) }
        } catch {
            throw error as? TransportError ?? TransportError(.cancelled, "The request was cancelled.")
        }
    }

    // These are not inlined: their temporary values would be part of the frame of a request that waits.

    @inline(never)
    private func wire(
        _ request: SessionRequest, _ exchange: Exchange, _ timeouts: TransportTimeouts
    ) throws(SessionError) -> TransportRequest {
        let target = try RequestTarget(request.url, expecting: baseOrigin)
        try permission.check(request)
        if let length = request.body?.length, length < 0 {
            throw SessionError(.invalidRequest, "The body's length is \(length).", url: request.url)
        }
        if let body = request.body, !body.canBeRead { throw SessionError.bodyNotReplayable(of: request) }
        exchange.call.observer?.willSendBody(length: request.body.map(\.length) ?? 0)
        return TransportRequest(
            head: target.head(of: request), origin: target.origin,
            body: request.body.map { TransportRequestBody($0, in: exchange.call) },
            timeouts: try timeouts.applying(request, deadline: exchange.deadline), delivery: exchange.delivery,
            streamsUnsuccessfulResponses: true, streamsCodedResponses: streamsCodedResponses,
            priority: exchange.call.control?.priority ?? .normal,
            upgrade: exchange.call.upgrade)
    }

    @inline(never)
    private func failed(_ error: TransportError, _ request: SessionRequest) -> SessionError {
        SessionError(error, url: request.url).adding(metrics: error.attempts)
    }

    @inline(never)
    private func received(_ response: TransportResponse, to request: SessionRequest) -> StreamedResponse {
        StreamedResponse(
            url: request.url, head: response.head, body: .transport(response.body, url: request.url),
            metrics: response.attempts)
    }
}

extension TransportTimeouts {
    /// These timeouts with a request's own in their place, and no more for the whole than its deadline leaves.
    func applying(
        _ request: SessionRequest, deadline: Tick?
    ) throws(SessionError) -> TransportTimeouts {
        var timeouts = self
        if let idle = request.options.idleTimeout { timeouts.idleRead = idle }
        if let connect = request.options.connectTimeout { timeouts.connect = connect }
        timeouts.request = deadline?.timeLeft
        if let left = timeouts.request, left <= .zero { throw .timedOut(.request, request.url) }
        return timeouts
    }
}
