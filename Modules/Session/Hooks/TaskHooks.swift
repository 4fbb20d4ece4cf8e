public import LinnetSerialization

/// Functions that a session calls on the way of a request, each optional: for all of a session's requests in
/// ``Session/Configuration/hooks``, for one request or handle where it is made.
///
/// ```swift
/// let session = try Session {
///     $0.hooks.willRedirect = { context, redirect, request in
///         redirect.target.host() == "example.com" ? .follow(request) : .doNotFollow
///     }
/// }
/// ```
/// A hook that decides is called in the task of its request, which waits for it; of a request's and the session's, the
/// request's is called alone. What it throws fails its own request: a ``SessionError`` as it is, a `CancellationError` as
/// ``SessionError/Code/cancelled``, anything else as ``SessionError/Code/hookFailed`` with the error below it. Hooks that are
/// not set cost nothing.
public struct TaskHooks: Sendable {
    /// Decides on a redirect before it is followed: the request is the one that RFC 9110, section 15.4, leads to, already
    /// without the credentials of another origin. Redirects that the policy refuses are not asked about, and a request that
    /// the hook makes is held to the policy too.
    public var willRedirect: (@Sendable (HookContext, Redirect, Request) async throws -> RedirectDecision)?
    /// Answers a 401 (RFC 9110, section 15.5.2): with the stored credential that is proposed, with another, or not at all.
    /// It is asked again after each credential that was refused, a few times at most.
    public var didReceiveChallenge:
        (@Sendable (HookContext, AuthenticationAttempt) async throws -> AuthenticationDecision)?
    /// Has the last word on whether an attempt is made again: what the retriers and the policy decided comes with it. Not
    /// asked when the request was cancelled, or its body cannot be sent again.
    public var willRetry: (@Sendable (HookContext, RetryAttempt, RetryDecision) async throws -> RetryDecision)?

    /// No hooks.
    public init() {}

    var isEmpty: Bool { willRedirect == nil && didReceiveChallenge == nil && willRetry == nil }
}
