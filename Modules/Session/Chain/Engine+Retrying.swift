internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

extension Engine {
    /// Runs a request and reads its response. Does both again if the reading fails and a retrier, the policy or the
    /// hook wants another attempt. The links have decided on all other failures.
    ///
    /// - Parameters:
    ///   - readsLate: Whether the body is read after the response has left the links, so that they do not see its
    ///     failure.
    ///   - attempt: Runs the chain once and reads the response.
    func retrying<Value>(
        _ flight: Flight, readsLate: Bool,
        _ attempt: (Flight) async throws(SessionError) -> SessionResponse<Value>
    ) async throws(SessionError) -> SessionResponse<Value> {
        guard retriesReading(of: flight, readsLate: readsLate) else { return try await attempt(flight) }
        var part = flight
        try begin(&part)
        defer { if !flight.isPart { running.end() } }
        part.isPart = true
        let record = part.record ?? Flight.Record(id: part.taskID ?? TaskID.next())
        part.record = record
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
                let isOfBody = readsLate && failure.isOfBody && !failure.isFinal
                guard isOfBody || failure.isNewToRetriers else { throw failure }
                let failed = part.attempt(record.attempts, head: failure.head, error: failure)
                // The policy is about the transfer, not about the content.
                let policy = isOfBody ? flight.retryPolicy(else: retryPolicy) : nil
                guard let wait = try await wait(after: failed, policy, between) else { throw failure }
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

    /// Waits between two attempts; the error of an interrupted wait has the metrics of the attempts before it.
    func pause(for time: Duration, after attempts: [TransportMetrics], _ url: URL) async throws(SessionError) {
        do {
            try await running.sleep(for: time, by: clock, url)
        } catch {
            throw error.adding(attempts)
        }
    }

    private func wait(
        after attempt: RetryPolicy.Attempt, _ policy: RetryPolicy?, _ flight: Flight
    ) async throws(SessionError) -> Duration? {
        var retriers = flight.retriers(before: retriers)
        // The others have seen the status.
        if attempt.error?.code == .unacceptableStatus { retriers.removeAll(where: \.judgesResponses) }
        let decision = try await timed(flight) { [retriers] () async throws(SessionError) in
            do {
                return try await retriers.decide(on: attempt, policy, flight.hooks)
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
