internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetReachability
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// The end of the chain: makes the transport's request of a flight, and hands it to the transport.
final class TransportLink: Sendable {
    let transport: any Transport
    let permission: NetworkPermission
    /// Whether coded bodies are decoded while they arrive.
    let streamsCodedResponses: Bool
    /// The origin of the session's base URL.
    let baseOrigin: KnownOrigin?
    /// The origin of the first request of a session without a base URL, which most others have too.
    private let firstOrigin = Mutex<KnownOrigin?>(nil)

    init(
        transport: any Transport, permission: NetworkPermission, streamsCodedResponses: Bool, baseOrigin: KnownOrigin?
    ) {
        self.transport = transport
        self.permission = permission
        self.streamsCodedResponses = streamsCodedResponses
        self.baseOrigin = baseOrigin
    }

    // The parts of this function are not inlined: their temporary values would be part of the frame of a request that
    // waits.

    /// Sends the request of a flight, and waits for its response no longer than the caller's task, whatever the
    /// transport does.
    @inline(never)
    func send(
        _ walk: inout ChainWalk, _ flight: inout Flight, _ timeouts: TransportTimeouts
    ) async throws(SessionError) {
        try await send(try wire(&flight, timeouts), &walk, &flight)
    }

    private func send(
        _ request: TransportRequest, _ walk: inout ChainWalk, _ flight: inout Flight
    ) async throws(SessionError) {
        let response: TransportResponse
        do {
            response = try await send(request, of: flight.request, flight.observer, flight.instruments)
        } catch {
            throw failed(error, &flight)
        }
        received(response, &walk, &flight)
    }

    private func send(
        _ request: TransportRequest, of original: SessionRequest, _ observer: (any TransportObserver)?,
        _ instruments: FlightInstruments?
    ) async throws(TransportError) -> TransportResponse {
        guard let instruments else { return try await send(request, observer) }
        return try await instruments.send(request, of: original, observer, through: self)
    }

    func send(
        _ request: TransportRequest, _ observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        transport.enforcesRequestTimeout
            ? try await transport.send(request, observer: observer) : try await sendUntilCancelled(request, observer)
    }

    /// Sends the request of a flight like ``send(_:_:_:)``, and again while its answer is late.
    ///
    /// - Parameter mayHedge: Whether the attempt with a number from 2 is made.
    @inline(never)
    func send(
        _ walk: inout ChainWalk, _ flight: inout Flight, _ timeouts: TransportTimeouts, hedging policy: HedgingPolicy,
        by clock: any Clock<Duration>, mayHedge: @escaping @Sendable (Int) -> Bool
    ) async throws(SessionError) {
        try policy.check(for: flight.request.url)
        let request = try wire(&flight, timeouts)
        guard policy.permits(request) else { return try await send(request, &walk, &flight) }
        // The progress of the request is the one of the first attempt's upload.
        var other = flight
        other.observer = nil
        let first: (any TransportObserver)? = flight.observer
        let others: (any TransportObserver)? = flight.observer.map { HedgeObserver(base: $0) }
        let (original, instruments) = (flight.request, flight.instruments)
        let hedge = Hedge(policy: policy, clock: clock) { request, number throws(TransportError) in
            try await self.send(request, of: original, number == 1 ? first : others, instruments)
        } next: { [other] number in
            var other = other
            // It is made when it is due, for the time that is left then. A request that is suspended is not late.
            guard other.control?.isSuspended != true, let request = try? self.wire(&other, timeouts),
                mayHedge(number)
            else { return nil }
            return request
        }
        let outcome = await hedge.run(request)
        switch outcome.result {
        case .success(let response): received(response, after: outcome.earlier, &walk, &flight)
        case .failure(let error):
            throw SessionError(error, url: flight.request.url).adding(metrics: outcome.earlier + error.attempts)
        }
    }

    /// Makes the transport's request of a flight.
    @inline(never)
    private func wire(_ flight: inout Flight, _ timeouts: TransportTimeouts) throws(SessionError)
        -> TransportRequest
    {
        let target = try target(of: flight)
        // Below the cache, whose answers need no network.
        try permission.check(flight.request)
        if let length = flight.request.body?.length, length < 0 {
            throw SessionError(.invalidRequest, "The body's length is \(length).", url: flight.request.url)
        }
        if let body = flight.request.body, !body.canBeRead { throw SessionError.bodyNotReplayable(of: flight.request) }
        flight.observer?.willSendBody(length: flight.request.body.map(\.length) ?? 0)
        return TransportRequest(
            head: target.head(of: flight.request), origin: target.origin,
            body: flight.request.body.map {
                TransportRequestBody($0, observer: flight.observer, control: flight.control)
            },
            timeouts: try timeouts.applying(flight.request, deadline: flight.deadline), delivery: flight.delivery,
            streamsUnsuccessfulResponses: true, streamsCodedResponses: streamsCodedResponses,
            priority: flight.control?.priority ?? .normal,
            upgrade: flight.upgrade)
    }

    /// The target of a flight; the usual origin is not parsed again.
    private func target(of flight: Flight) throws(SessionError) -> RequestTarget {
        if let baseOrigin { return try flight.lastTarget(expecting: baseOrigin) }
        let known = firstOrigin.withLock { $0 }
        let target = try flight.lastTarget(expecting: known)
        if known == nil, let origin = KnownOrigin(flight.request.url) {
            firstOrigin.withLock { $0 = $0 ?? origin }
        }
        return target
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

    @inline(never)
    private func failed(_ error: TransportError, _ flight: inout Flight) -> SessionError {
        SessionError(error, url: flight.request.url).adding(metrics: error.attempts)
    }

    /// - Parameter earlier: The attempts that were hedged.
    @inline(never)
    private func received(
        _ response: TransportResponse, after earlier: [TransportMetrics] = [], _ walk: inout ChainWalk,
        _ flight: inout Flight
    ) {
        let url = flight.request.url
        walk.receive(
            .success(
                StreamedResponse(
                    url: url, head: response.head, body: .transport(response.body, url: url),
                    metrics: earlier.isEmpty ? response.attempts : earlier + response.attempts)))
    }
}

/// Observes the attempts beside the first one of a hedged request.
private struct HedgeObserver: TransportObserver {
    let base: any TransferObserver

    func didFinishAttempt(_ metrics: TransportMetrics) { base.didFinishHedge(metrics) }
}

extension TransportTimeouts {
    /// Returns these timeouts, overridden by a request's own; its deadline limits the timeout for the whole request.
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

/// The objections of a request's options against the network.
struct NetworkPermission: Sendable {
    /// The current network status; nil when it is unknown.
    let status: (@Sendable () -> ReachabilityStatus)?

    init(status: (@Sendable () -> ReachabilityStatus)?) {
        self.status = status
    }

    init(_ network: NetworkWatch?) {
        guard let network else {
            status = nil
            return
        }
        status = { network.status }
    }

    func check(_ request: SessionRequest) throws(SessionError) {
        let options = request.options
        if options.waitsForConnectivity == true, status == nil {
            throw SessionError(
                .invalidConfiguration,
                "The request waits for connectivity, which needs the session's reachabilityMonitor.", url: request.url)
        }
        // A session with a cache has answered such a request before it comes here.
        if let policy = options.cachePolicy, policy == .cacheOnly {
            throw .notCached(request.url)
        }
        guard options.allowsExpensiveNetworks == false else { return }
        guard let status = status?() else {
            throw SessionError(
                .invalidConfiguration,
                "The request may not use an expensive network, and without a reachability monitor its cost is unknown.",
                url: request.url)
        }
        guard status.isKnown, !status.isExpensive else {
            throw SessionError(
                .networkNotAllowed, "The request may not use an expensive network: \(status).", url: request.url)
        }
    }
}
