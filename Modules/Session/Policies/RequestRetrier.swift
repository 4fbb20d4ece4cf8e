/// Decides on retries in addition to a session's ``RetryPolicy``, for example after fetching a new token.
///
/// Retriers are called in order, before the policy; the first that retries decides. Each must limit its own retries by
/// ``RetryPolicy/Attempt/number``: no other limit applies. They are asked about failures:
/// - an error without a response,
/// - a response with the status of an error (400 to 599; RFC 9110, sections 15.5 and 15.6), before it is validated,
/// - a response that was refused or could not be decoded (``SessionError/Code/unacceptableStatus``,
///   ``SessionError/Code/decodingFailed``, ``SessionError/Code/unacceptableContentType``,
///   ``SessionError/Code/unacceptableResponse``), which a stream or a download never is.
///
/// A retrier whose ``judgesResponses`` is true is asked about every response, for example to repeat a GET until its
/// answer is not 202.
public protocol RequestRetrier: Sendable {
    /// Whether the retrier is asked about responses that are no failures. The default is false.
    var judgesResponses: Bool { get }

    /// Decides on an attempt. An error fails the request like an ``Interceptor``'s error.
    func decide(on attempt: RetryPolicy.Attempt) async throws -> RetryPolicy.Decision
}

extension RequestRetrier {
    /// Whether the retrier is asked about responses that are no failures: false.
    public var judgesResponses: Bool { false }
}
