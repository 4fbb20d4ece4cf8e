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
        var metrics: [TransportMetrics] = []
        while true {
            do throws(SessionError) {
                var response = try await attempt(part)
                response.attempts = metrics + response.attempts
                return response
            } catch {
                let failure = error.adding(metrics)
                guard failure.isOfDecoding, flight.request.body?.canBeRead ?? true else { throw failure }
                let failed = RetryAttempt(
                    number: part.record?.attempts ?? 1, request: part.request, head: failure.head, error: failure,
                    sentRequest: part.record?.adapted)
                guard let wait = try await wait(after: failed, part) else { throw failure }
                metrics = failure.metrics
                chain.log?.retrying(failed, part, after: wait)
                try await pause(for: wait, after: metrics, flight.request.url)
            }
        }
    }

    /// Whether a call or the session has retriers.
    func hasRetriers(_ flight: Flight) -> Bool {
        !retriers.isEmpty || flight.additions?.value.retriers.isEmpty == false
    }

    /// Waits between two attempts; the error of an interrupted wait has the metrics of the attempts before it.
    func pause(for time: Duration, after attempts: [TransportMetrics], _ url: URL) async throws(SessionError) {
        do {
            try await running.sleep(for: time, by: clock, url)
        } catch {
            throw error.adding(attempts)
        }
    }

    private func wait(after attempt: RetryAttempt, _ flight: Flight) async throws(SessionError) -> Duration? {
        let retriers = (flight.additions?.value.retriers ?? []) + retriers
        let decision = try await timed(flight) { () async throws(SessionError) in
            do {
                return try await retriers.decide(on: attempt, nil, flight.hooks)
            } catch {
                throw SessionError(thrown: error, url: flight.request.url)
            }
        }
        guard case .retry(let wait) = decision, flight.allows(wait) else { return nil }
        return max(.zero, wait)
    }
}

extension SessionError {
    /// Whether the response arrived and was refused or could not be decoded because of its body. Retriers see others before that.
    fileprivate var isOfDecoding: Bool {
        [.decodingFailed, .unacceptableContentType, .unacceptableResponse].contains(code)
    }
}
