internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport

/// The link that repeats attempts. An attempt is everything below: adapters, redirects, authentication.
final class RetryInterceptor: PassiveInterceptor {
    let policy: RetryPolicy
    /// Whether the session has retriers, which are asked about every outcome.
    private let hasRetriers: Bool

    init(policy: RetryPolicy, hasRetriers: Bool) {
        self.policy = policy
        self.hasRetriers = hasRetriers
    }

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        next.exchange.record?.nextAttempt()
        let outcome = await Result { () async throws(SessionError) in try await next(request) }
        return try await retry(after: outcome, of: request, next)
    }

    /// Requests without retriers and hooks pass.
    func passes(_ request: SessionRequest, _ exchange: Exchange, _ descent: inout Descent) -> Bool {
        guard !hasRetriers, exchange.call.hooks == nil, exchange.call.own?.retriers.isEmpty ?? true else {
            return false
        }
        exchange.record?.nextAttempt()
        return true
    }

    func passes(_ response: inout StreamedResponse, to request: SessionRequest, _ exchange: Exchange) -> Bool {
        !policy(of: exchange).mayRetry(response.head)
    }

    func passes(_ error: SessionError, of request: SessionRequest, _ exchange: Exchange) -> Bool {
        policy(of: exchange).limit <= 0
    }

    func intercept(
        _ outcome: Result<StreamedResponse, SessionError>, of request: SessionRequest, descent: Descent,
        next: InterceptorChain
    ) async throws -> StreamedResponse {
        try await retry(after: outcome, of: request, next)
    }

    private func policy(of exchange: Exchange) -> RetryPolicy { exchange.call.own?.retryPolicy ?? policy }

    /// Decides on the outcome of the first attempt, and of those that follow it.
    private func retry(
        after first: Result<StreamedResponse, SessionError>, of original: SessionRequest, _ next: InterceptorChain
    ) async throws -> StreamedResponse {
        var (request, outcome) = (original, first)
        let own = next.exchange.call.own
        let retriers = next.engine.retriers(with: own)
        let record = next.exchange.record
        var number = record?.attempts ?? 1
        var metrics: [TransportMetrics] = []
        while true {
            let attempt = RetryAttempt(number, request, outcome, sent: record?.adapted)
            let wait = try await retriers.wait(
                after: attempt, policy: policy(of: next.exchange), hooks: next.exchange.call.hooks,
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
            try await next.engine.pause(for: wait, after: metrics, request.url)
            number = record?.nextAttempt() ?? number + 1
            let sent = request
            outcome = await Result { () async throws(SessionError) in try await next(sent) }
        }
    }
}

extension [any RequestRetrier] {
    /// How long to wait for the next attempt; nil when there is none.
    func wait(
        after attempt: RetryAttempt, policy: RetryPolicy?, hooks: RequestHooks?, deadline: Tick?
    ) async throws -> Duration? {
        guard attempt.error?.isFinal != true else { return nil }
        var decision = try await decide(on: attempt, policy)
        if let hooks { decision = try await hooks.willRetry(attempt, decision) }
        guard case .retry(let wait) = decision else { return nil }
        if let deadline, wait >= deadline.timeLeft { return nil }
        return Swift.max(.zero, wait)
    }

    private func decide(on attempt: RetryAttempt, _ policy: RetryPolicy?) async throws -> RetryDecision {
        if !isEmpty {
            let decision = try await untilCancelled {
                for retrier in self {
                    let decision = try await retrier.decide(on: attempt)
                    if decision != .doNotRetry { return decision }
                }
                return RetryDecision.doNotRetry
            }
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
