public import HTTPTypes
public import LinnetSerialization

/// An attempt that could be made again: it failed, or its response is there and nobody has judged it yet.
public struct RetryAttempt: Sendable {
    /// How many attempts were made, this one included.
    public let number: Int
    /// The request.
    public let request: Request
    /// The response's status and header fields; nil when there was none.
    public let head: HTTPResponse?
    /// Why there was no response; nil when there was one.
    public let error: SessionError?

    /// Makes an attempt; for tests of retriers.
    public init(number: Int, request: Request, head: HTTPResponse? = nil, error: SessionError? = nil) {
        self.number = number
        self.request = request
        self.head = head
        self.error = error
    }
}

/// Whether an attempt is made again.
public enum RetryDecision: Sendable, Hashable {
    /// Not: the response or the error is the request's.
    case doNotRetry
    /// Once this much time has passed.
    case retry(after: Duration)
}

/// Decides on retries beside a session's ``RetryPolicy``, such as after it has fetched a new token.
///
/// Retriers are asked in order, before the policy; the first that wants to retry decides. Each counts by
/// ``RetryAttempt/number`` how often is enough: nobody else stops it.
public protocol RequestRetrier: Sendable {
    /// Decides on an attempt. What it throws fails the request as an ``Interceptor``'s error does.
    func decide(on attempt: RetryAttempt) async throws -> RetryDecision
}
