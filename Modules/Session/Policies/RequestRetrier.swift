/// Decides on retries in addition to a session's ``RetryPolicy``, for example after fetching a new token.
///
/// Retriers are called in order, before the policy; the first that retries decides. Each must limit its own retries by
/// ``RetryPolicy/Attempt/number``: no other limit applies. They are asked about failures, about each response before it
/// is validated, and about a response whose body was refused or could not be decoded
/// (``SessionError/Code/decodingFailed``, ``SessionError/Code/unacceptableContentType``,
/// ``SessionError/Code/unacceptableResponse``), which a stream or a download never is.
public protocol RequestRetrier: Sendable {
    /// Decides on an attempt. An error fails the request like an ``Interceptor``'s error.
    func decide(on attempt: RetryPolicy.Attempt) async throws -> RetryPolicy.Decision
}
