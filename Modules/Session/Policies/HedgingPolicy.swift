internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetTransport

/// Sends a request once more when its answer is late, and uses the answer that comes first: the few slow answers of a
/// server then cost little more than the usual ones.
///
/// ```swift
/// let quote = try await api.get("quote").hedging(HedgingPolicy(after: .milliseconds(200))).value(as: Quote.self)
/// ```
/// A good delay is the 95th percentile of the usual answers: then one request of twenty is sent twice.
///
/// Only requests that may be performed twice are hedged: those with an idempotent method (RFC 9110, section 9.2.2) or
/// an Idempotency-Key (`RequestOptions.sendsIdempotencyKey`), whose body, if any, can be read again, and that do not
/// switch protocols. A request is not hedged if it is suspended when its answer is late, or if a ``CircuitBreaker`` has
/// opened the circuit of its origin. A hedge takes no place of its own in a ``ConcurrencyLimiter``. An answer counts
/// when its head has arrived, or, where the body is read into memory, the body. An attempt that fails, or has a status
/// from 500 to 599, does not end the others. The attempts that are not used are cancelled. They count neither as
/// failures of the request nor for a ``CircuitBreaker``. A hedge counts as a retry for the session's ``RetryBudget``,
/// and has the same fields, among them the signature of a ``RequestSigner``. Uploads report the progress of the first
/// attempt.
public struct HedgingPolicy: Sendable, Hashable {
    /// The time without an answer after which the next attempt is made; from zero.
    public var delay: Duration
    /// The maximum number of attempts at once, from 1, which is none but the first, to 5. The default is 2. Beyond it,
    /// no attempt is added.
    public var maximumAttempts: Int

    /// Creates a policy. A session refuses values outside of their ranges with
    /// ``SessionError/Code/invalidConfiguration``; a request that has them fails with it.
    public init(after delay: Duration, maximumAttempts: Int = 2) {
        self.delay = delay
        self.maximumAttempts = maximumAttempts
    }

    func check(for url: URL? = nil) throws(SessionError) {
        guard delay >= .zero, (1...5).contains(maximumAttempts) else {
            throw SessionError(
                .invalidConfiguration, "Hedging needs a delay that is not negative, and from 1 to 5 attempts.",
                url: url)
        }
    }

    /// Whether a request may be sent more than once at the same time.
    func permits(_ request: TransportRequest) -> Bool {
        maximumAttempts > 1 && request.head.isIdempotent && request.upgrade == nil
            && request.body?.isReplayable ?? true
    }
}
