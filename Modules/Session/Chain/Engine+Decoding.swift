internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

extension Engine {
    /// Runs a request and reads its response. Does both again if the response cannot be decoded and a retrier wants
    /// another attempt.
    ///
    /// - Parameter attempt: Runs the chain once and reads the response.
    func decoding<Value>(
        _ flight: Flight, _ attempt: (Flight) async throws(SessionError) -> SessionResponse<Value>
    ) async throws(SessionError) -> SessionResponse<Value> {
        guard hasRetriers(flight) else { return try await attempt(flight) }
        var part = flight
        try begin(&part)
        defer { if !flight.isPart { running.end() } }
        part.isPart = true
        // The timers of the attempts do not cover the time between them.
        var between = part
        between.isTimed = false
        var metrics: [TransportMetrics] = []
        while true {
            do throws(SessionError) {
                var response = try await attempt(part)
                response.attempts = metrics + response.attempts
                return response
            } catch {
                let failure = error.adding(metrics)
                guard failure.isNewToRetriers else { throw failure }
                let failed = part.attempt(part.record?.attempts ?? 1, head: failure.head, error: failure)
                guard let wait = try await wait(after: failed, between) else { throw failure }
                let request = try await newRequest(part.request, between, after: failure)
                guard let request, takeRetry(after: failed, part, in: wait) else { throw failure }
                part = part.with(request)
                part.retries.isCounted = true
                metrics = failure.metrics
                try await timed(between) { [metrics] () async throws(SessionError) in
                    try await self.pause(for: wait, after: metrics, flight.request.url)
                }
            }
        }
    }

    /// The request with a body that can be read; nil if there is none.
    private func newRequest(
        _ request: SessionRequest, _ flight: Flight, after failure: SessionError
    ) async throws(SessionError) -> SessionRequest? {
        do {
            return try await timed(flight) { () async throws(SessionError) in try await flight.readable(request) }
        } catch {
            throw error.adding(failure.metrics)
        }
    }

    func hasRetriers(_ flight: Flight) -> Bool { flight.hasRetriers(before: retriers) }

    /// Waits between two attempts; the error of an interrupted wait has the metrics of the attempts before it.
    func pause(for time: Duration, after attempts: [TransportMetrics], _ url: URL) async throws(SessionError) {
        do {
            try await running.sleep(for: time, by: clock, url)
        } catch {
            throw error.adding(attempts)
        }
    }

    private func wait(after attempt: RetryPolicy.Attempt, _ flight: Flight) async throws(SessionError) -> Duration? {
        var retriers = flight.retriers(before: retriers)
        // The others have seen the status.
        if attempt.error?.code == .unacceptableStatus { retriers.removeAll(where: \.judgesResponses) }
        let decision = try await timed(flight) { [retriers] () async throws(SessionError) in
            do {
                return try await retriers.decide(on: attempt, nil, flight.hooks)
            } catch {
                throw SessionError(thrown: error, url: flight.request.url)
            }
        }
        return flight.wait(by: decision)
    }
}

extension SessionError {
    /// Whether retriers have not been asked about the response before it was refused or could not be decoded.
    fileprivate var isNewToRetriers: Bool {
        switch code {
        case .decodingFailed, .unacceptableContentType, .unacceptableResponse: true
        case .unacceptableStatus: head?.isFailure == false
        default: false
        }
    }
}
