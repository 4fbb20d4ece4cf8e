internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport

/// The link that repeats attempts. An attempt is everything below: adapters, redirects, authentication.
struct RetryInterceptor: Interceptor {
    let policy: RetryPolicy

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        var request = request
        let own = next.exchange.call.own
        let retriers = next.engine.retriers(with: own)
        let record = next.exchange.record ?? RequestRecord(id: TaskID.next())
        var metrics: [TransportMetrics] = []
        while true {
            let number = record.nextAttempt()
            let sent = request
            let outcome = await Result { () async throws(SessionError) in try await next(sent) }
            let attempt = RetryAttempt(number, request, outcome, sent: record.adapted)
            let wait = try await retriers.wait(
                after: attempt, policy: own?.retryPolicy ?? policy, hooks: next.exchange.call.hooks,
                deadline: next.exchange.deadline)
            guard let wait, let readable = try await next.readable(request) else {
                return try outcome.adding(metrics).get()
            }
            request = readable
            switch outcome {
            case .success(let response):
                await response.body.drain()
                metrics += response.metrics
            case .failure(let error):
                metrics += error.metrics
            }
            try await next.engine.clock.sleep(for: wait.waitable)
        }
    }
}

extension [any RequestRetrier] {
    /// How long to wait for the next attempt; nil when there is none.
    func wait(
        after attempt: RetryAttempt, policy: RetryPolicy?, hooks: RequestHooks?, deadline: ContinuousClock.Instant?
    ) async throws -> Duration? {
        guard attempt.error?.isFinal != true else { return nil }
        var decision = try await decide(on: attempt, policy)
        if let hooks { decision = try await hooks.willRetry(attempt, decision) }
        guard case .retry(let wait) = decision else { return nil }
        if let deadline, .now + wait >= deadline { return nil }
        return Swift.max(.zero, wait)
    }

    private func decide(on attempt: RetryAttempt, _ policy: RetryPolicy?) async throws -> RetryDecision {
        for retrier in self {
            let decision = try await retrier.decide(on: attempt)
            if decision != .doNotRetry { return decision }
        }
        return policy?.decide(on: attempt) ?? .doNotRetry
    }
}

extension RetryAttempt {
    fileprivate init(
        _ number: Int, _ request: SessionRequest, _ outcome: Result<StreamedResponse, SessionError>,
        sent: SessionRequest?
    ) {
        switch outcome {
        case .success(let response): self.init(number: number, request: request, head: response.head, sentRequest: sent)
        case .failure(let error): self.init(number: number, request: request, error: error, sentRequest: sent)
        }
    }
}

extension Result where Success == StreamedResponse, Failure == SessionError {
    /// The outcome with what the attempts before it cost.
    fileprivate func adding(_ attempts: [TransportMetrics]) -> Self {
        switch self {
        case .success(var response):
            response.attempts = attempts + response.attempts
            return .success(response)
        case .failure(let error):
            return .failure(error.adding(attempts))
        }
    }
}

extension SessionError {
    /// Whether no other attempt can be meant: the caller has given up, or the session or the time is over.
    fileprivate var isFinal: Bool { code == .cancelled || code == .shutDown || timeout == .request }
}
