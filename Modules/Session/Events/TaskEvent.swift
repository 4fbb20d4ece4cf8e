public import FoundationEssentials
public import LinnetCache
public import LinnetMessages

/// An event of one of a session's requests.
///
/// For each ``taskID``, events are delivered in the order in which they happened, each change once, and `completed`
/// last and exactly once. A subscriber receives only events after its subscription, so the first event for an ID can be
/// of any kind.
public struct TaskEvent: Sendable {
    /// The kind of event.
    public enum Kind: Sendable {
        /// A handle was created, in the suspended state.
        case created
        /// The request was started, or resumed after a suspension.
        case resumed
        /// The request was suspended.
        case suspended
        /// The session decided on the request.
        case decided(Decision)
        /// The request ended, with its error, or nil on success.
        case completed(SessionError?)
    }

    /// A decision of a session's policies on a request.
    public enum Decision: Sendable, Hashable {
        /// A failed attempt is followed by another one, with a number from 2, after a delay.
        case retry(attempt: Int, delay: Duration)
        /// An answer is late, so another attempt with a number from 2 is made beside the earlier ones; see
        /// ``HedgingPolicy``.
        case hedge(attempt: Int)
        /// A retry or a hedge was not made, because the session's ``RetryBudget`` did not allow it.
        case refusedByBudget
        /// The request was not sent, because the circuit of its origin is open; see ``CircuitBreaker``.
        case refusedByCircuitBreaker(Origin)
        /// The request waits until fewer requests run at its origin; see ``ConcurrencyLimiter``.
        case waitForConcurrencyLimiter(Origin)
        /// The session's cache answered the request, or took another part in it; see ``SessionResponse/cacheOutcome``.
        case cache(CacheStatistics.Outcome)

        /// The name in metrics and spans.
        package var name: String {
            switch self {
            case .retry: "retry"
            case .hedge: "hedge"
            case .refusedByBudget: "refused_by_budget"
            case .refusedByCircuitBreaker: "refused_by_circuit_breaker"
            case .waitForConcurrencyLimiter: "wait_for_concurrency_limiter"
            case .cache: "cache"
            }
        }
    }

    /// The request's ID, unique in the process.
    public let taskID: UInt64
    /// The kind of event.
    public let kind: Kind
    /// The request's URL; nil if the request could not be created.
    public let url: URL?
    /// The request's `RequestOptions.tag`.
    public let tag: String?
    /// The description of the handle, if there is one.
    public let taskDescription: String?
}
