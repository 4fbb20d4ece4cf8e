internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport

/// The link that makes attempts again. An attempt is all that is below: adapters, redirects, authentication.
struct RetryInterceptor: Interceptor {
    let policy: RetryPolicy
    let retriers: [any RequestRetrier]
    let clock: any Clock<Duration>

    func intercept(_ request: Request, next: Next) async throws -> StreamedResponse {
        var request = request
        var metrics: [TransportMetrics] = []
        var number = 1
        while true {
            let sent = request
            let outcome = await Result { () async throws(SessionError) in try await next(sent) }
            guard let wait = try await wait(RetryAttempt(number, request, outcome), next),
                let readable = try await next.readable(request)
            else {
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
            try await clock.sleep(for: wait.waitable)
            number += 1
        }
    }

    /// How long to wait for the next attempt; nil when there is to be none.
    private func wait(_ attempt: RetryAttempt, _ next: Next) async throws -> Duration? {
        guard attempt.error?.isFinal != true else { return nil }
        var decision = try await decide(on: attempt)
        if let hooks = next.exchange.hooks { decision = try await hooks.willRetry(attempt, decision) }
        guard case .retry(let wait) = decision else { return nil }
        if let deadline = next.exchange.deadline, .now + wait >= deadline { return nil }
        return max(.zero, wait)
    }

    private func decide(on attempt: RetryAttempt) async throws -> RetryDecision {
        for retrier in retriers {
            let decision = try await retrier.decide(on: attempt)
            if decision != .doNotRetry { return decision }
        }
        return policy.decide(on: attempt)
    }
}

extension RetryAttempt {
    fileprivate init(_ number: Int, _ request: Request, _ outcome: Result<StreamedResponse, SessionError>) {
        switch outcome {
        case .success(let response): self.init(number: number, request: request, head: response.head)
        case .failure(let error): self.init(number: number, request: request, error: error)
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
