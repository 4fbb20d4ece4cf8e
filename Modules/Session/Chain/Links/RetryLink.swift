internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport

/// Repeats attempts. An attempt includes all links below: adapters, redirects, authentication.
struct RetryLink: ChainLink {
    /// The notes about the attempts of a flight.
    struct Note: Sendable {
        /// The number of the current attempt, from 1.
        var number = 1
    }

    let policy: RetryPolicy
    /// The session's retriers, which are asked about every outcome.
    let retriers: [any RequestRetrier]
    /// Nil in a session without a logger.
    var log: LogLink?

    func send(_ flight: inout Flight) -> ChainStep {
        flight.retries.number = flight.record?.nextAttempt() ?? 1
        return .proceed
    }

    func sendAgain(_ flight: inout Flight) -> ChainStep {
        flight.retries.number = flight.record?.nextAttempt() ?? flight.retries.number + 1
        return .proceed
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        guard asksUsers(flight) || policy(of: flight).mayRetry(response.head) else { return .proceed }
        return step(after: attempt(flight, head: response.head), &flight)
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) -> ChainStep {
        guard asksUsers(flight) || policy(of: flight).limit > 0, !failure.isFinal else { return .proceed }
        return step(after: attempt(flight, error: failure), &flight)
    }

    private func step(after attempt: RetryAttempt, _ flight: inout Flight) -> ChainStep {
        let decision: RetryDecision
        if asksUsers(flight) {
            guard case .retry(let answer) = flight.takeAnswer() else {
                return .ask(.retry(attempt, (flight.additions?.value.retriers ?? []) + retriers, policy(of: flight)))
            }
            decision = answer
        } else {
            decision = policy(of: flight).decide(on: attempt)
        }
        guard case .retry(let wait) = decision, flight.allows(wait) else { return .proceed }
        if flight.canSendAgain { log?.retrying(attempt, flight, after: max(.zero, wait)) }
        return .again(flight.request, after: max(.zero, wait), otherwise: .proceed)
    }

    private func attempt(_ flight: Flight, head: HTTPResponse? = nil, error: SessionError? = nil) -> RetryAttempt {
        RetryAttempt(
            number: flight.retries.number, request: flight.request, head: head, error: error,
            sentRequest: flight.record?.adapted)
    }

    private func policy(of flight: Flight) -> RetryPolicy { flight.additions?.value.retryPolicy ?? policy }

    /// Whether retriers or a hook decide in addition to the policy.
    private func asksUsers(_ flight: Flight) -> Bool {
        !retriers.isEmpty || flight.hooks?.isSeen(\.willRetry) == true
            || flight.additions?.value.retriers.isEmpty == false
    }
}

extension Flight {
    /// Whether the body can be read once more, or a hook may provide another one.
    fileprivate var canSendAgain: Bool { request.body?.canBeRead ?? true || hooks?.isSeen(\.needsNewBody) == true }

    /// Whether there is time for another attempt after a wait.
    func allows(_ wait: Duration) -> Bool { deadline.map { wait < $0.timeLeft } ?? true }
}

extension SessionError {
    /// Whether another attempt is out of the question: the request was cancelled, or the session or the time has ended.
    var isFinal: Bool { code == .cancelled || code == .shutDown || timeout == .request }
}
