public import HTTPTypes
public import LinnetSerialization

/// An attempt that can be retried: it failed, or it has a response that is not validated yet.
public struct RetryAttempt: Sendable {
    /// The number of attempts, including this one.
    public let number: Int
    /// The request.
    public let request: Request
    /// The response's status and header fields; nil when there was none.
    public let head: HTTPResponse?
    /// The error; nil when there was a response.
    public let error: SessionError?

    /// Makes an attempt; for tests of retriers.
    public init(number: Int, request: Request, head: HTTPResponse? = nil, error: SessionError? = nil) {
        self.number = number
        self.request = request
        self.head = head
        self.error = error
    }
}

/// Whether a request is retried.
public enum RetryDecision: Sendable, Hashable {
    /// Do not retry: the request ends with this response or error.
    case doNotRetry
    /// Retry after this duration.
    case retry(after: Duration)
}

/// Decides on retries beside a session's ``RetryPolicy``, such as after it has fetched a new token.
///
/// Retriers are called in order, before the policy; the first that retries decides. Each must limit its own retries by
/// ``RetryAttempt/number``: no other limit applies.
public protocol RequestRetrier: Sendable {
    /// Decides on an attempt. An error fails the request as an ``Interceptor``'s error does.
    func decide(on attempt: RetryAttempt) async throws -> RetryDecision
}
