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
    /// Nil in a session without a budget.
    var ledger: RetryLedger?
    /// Nil in a session without a logger.
    var log: LogLink?

    func send(_ flight: inout Flight) -> ChainStep {
        flight.retries.number = flight.record?.nextAttempt() ?? 1
        ledger?.begin()
        return .proceed
    }

    func sendAgain(_ flight: inout Flight) -> ChainStep {
        flight.retries.number = flight.record?.nextAttempt() ?? flight.retries.number + 1
        return .proceed
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        guard asksUsers(flight) || policy(of: flight).mayRetry(response.head) else { return .proceed }
        return step(after: flight.attempt(flight.retries.number, head: response.head), &flight)
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) -> ChainStep {
        guard asksUsers(flight) || policy(of: flight).limit > 0, !failure.isFinal else { return .proceed }
        return step(after: flight.attempt(flight.retries.number, error: failure), &flight)
    }

    private func step(after attempt: RetryPolicy.Attempt, _ flight: inout Flight) -> ChainStep {
        let decision: RetryPolicy.Decision
        if asksUsers(flight) {
            guard case .retry(let answer) = flight.takeAnswer() else {
                return .ask(.retry(attempt, flight.retriers(before: retriers), policy(of: flight)))
            }
            decision = answer
        } else {
            decision = policy(of: flight).decide(on: attempt)
        }
        guard let wait = flight.wait(by: decision) else { return .proceed }
        if flight.canSendAgain {
            guard ledger?.takeRetry() ?? true else {
                log?.notRetrying(attempt, flight)
                return .proceed
            }
            log?.retrying(attempt, flight, after: wait)
        }
        return .again(flight.request, after: wait, otherwise: .proceed)
    }

    private func policy(of flight: Flight) -> RetryPolicy { flight.additions?.value.retryPolicy ?? policy }

    /// Whether retriers or a hook decide in addition to the policy.
    private func asksUsers(_ flight: Flight) -> Bool {
        flight.hasRetriers(before: retriers) || flight.hooks?.isSeen(\.willRetry) == true
    }
}

extension Flight {
    /// Whether the body can be read once more, or a hook may provide another one.
    fileprivate var canSendAgain: Bool { request.body?.canBeRead ?? true || hooks?.isSeen(\.needsNewBody) == true }

    /// Whether the call or its session has retriers.
    func hasRetriers(before session: [any RequestRetrier]) -> Bool {
        !session.isEmpty || additions?.value.retriers.isEmpty == false
    }

    /// The retriers of the call, then the session's.
    func retriers(before session: [any RequestRetrier]) -> [any RequestRetrier] {
        (additions?.value.retriers ?? []) + session
    }

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
