internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport

/// Repeats attempts. An attempt includes all links below: adapters, redirects, authentication.
struct RetryLink: ChainLink {
    /// The notes about the attempts of a flight.
    struct Note: Sendable {
        /// The number of the current attempt, from 1.
        var number = 1
        /// Whether the budget has already counted the walk through the chain, as a retry.
        var isCounted = false
    }

    let policy: RetryPolicy
    /// The session's retriers.
    let retriers: [any RequestRetrier]
    /// Nil in a session without a budget.
    var ledger: RetryLedger?

    func send(_ flight: inout Flight) -> ChainStep {
        flight.retries.number = flight.record?.nextAttempt() ?? 1
        if !flight.retries.isCounted { ledger?.begin() }
        return .proceed
    }

    func sendAgain(_ flight: inout Flight) -> ChainStep {
        flight.retries.number = flight.record?.nextAttempt() ?? flight.retries.number + 1
        return .proceed
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        // Without a copy of the policy, which costs more than the decision.
        let mayRetry = flight.additions?.value.retryPolicy?.mayRetry(response.head) ?? policy.mayRetry(response.head)
        guard mayRetry || hasHook(flight) || flight.hasRetriers(before: retriers) else { return .proceed }
        let isFailure = response.head.isFailure
        let asksHook = (isFailure || mayRetry) && hasHook(flight)
        guard mayRetry || asksHook || hasRetriers(flight, isFailure) else { return .proceed }
        return step(after: flight.attempt(flight.retries.number, head: response.head), &flight) { flight in
            let retriers = flight.retriers(before: retriers)
            return isFailure ? retriers : retriers.filter(\.judgesResponses)
        }
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) -> ChainStep {
        guard !failure.isFinal,
            flight.retryPolicy(else: policy).limit > 0 || hasHook(flight) || hasRetriers(flight, true)
        else {
            return .proceed
        }
        return step(after: flight.attempt(flight.retries.number, error: failure), &flight) { flight in
            flight.retriers(before: retriers)
        }
    }

    /// - Parameter retriers: The retriers to ask.
    private func step(
        after attempt: RetryPolicy.Attempt, _ flight: inout Flight, retriers: (Flight) -> [any RequestRetrier]
    ) -> ChainStep {
        let decision: RetryPolicy.Decision
        if case .retry(let answer) = flight.takeAnswer() {
            decision = answer
        } else {
            let retriers = retriers(flight)
            guard retriers.isEmpty, !hasHook(flight) else {
                return .ask(.retry(attempt, retriers, flight.retryPolicy(else: policy)))
            }
            decision = flight.retryPolicy(else: policy).decide(on: attempt)
        }
        guard let wait = flight.wait(by: decision) else { return .proceed }
        return .retry(attempt, after: wait)
    }

    private func hasHook(_ flight: Flight) -> Bool { flight.hooks?.isSeen(\.willRetry) == true }

    /// Whether a retrier is asked about an outcome.
    private func hasRetriers(_ flight: Flight, _ isFailure: Bool) -> Bool {
        guard flight.hasRetriers(before: retriers) else { return false }
        return isFailure || flight.retriers(before: retriers).contains(where: \.judgesResponses)
    }
}

extension RetryPolicy {
    /// Whether the status is one that is retried.
    func mayRetry(_ head: HTTPResponse) -> Bool {
        limit > 0 && statusCodes.contains(head.status.code)
    }
}

extension HTTPResponse {
    /// Whether the status is one of an error (RFC 9110, sections 15.5 and 15.6).
    var isFailure: Bool { status.code >= 400 }
}

extension Flight {
    /// Whether the call or its session has retriers.
    func hasRetriers(before session: [any RequestRetrier]) -> Bool {
        !session.isEmpty || additions?.value.retriers.isEmpty == false
    }

    /// The retriers of the call, then the session's.
    func retriers(before session: [any RequestRetrier]) -> [any RequestRetrier] {
        (additions?.value.retriers ?? []) + session
    }

    /// The policy of the call, or else the session's.
    func retryPolicy(else session: RetryPolicy) -> RetryPolicy { additions?.value.retryPolicy ?? session }

    /// An attempt of the request, as the retriers see it.
    func attempt(_ number: Int, head: HTTPResponse? = nil, error: SessionError? = nil) -> RetryPolicy.Attempt {
        RetryPolicy.Attempt(number: number, request: request, head: head, error: error, sentRequest: record?.adapted)
    }

    /// The wait before another attempt; nil if there is to be none, or no time for it.
    func wait(by decision: RetryPolicy.Decision) -> Duration? {
        guard case .retry(let wait) = decision, deadline.map({ wait < $0.timeLeft }) ?? true else { return nil }
        return max(.zero, wait)
    }
}

extension SessionError {
    /// Whether another attempt is out of the question: the request was cancelled, or the session or the time has ended.
    var isFinal: Bool { code == .cancelled || code == .shutDown || timeout == .request }
}
