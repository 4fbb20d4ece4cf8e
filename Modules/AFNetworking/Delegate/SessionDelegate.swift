public import FoundationEssentials
public import HTTPTypes
public import LinnetSecurity
public import LinnetSerialization
public import LinnetSession
public import LinnetTransport

/// The hooks of `TaskHooks` and `SessionHooks` as the methods of an object, for a session or for one request.
///
/// ```swift
/// final class Gatekeeper: SessionDelegate {
///     func willRedirect(_ redirect: HTTPRedirect, by request: SessionRequest, _ context: TaskHooks.Context) async throws
///         -> RedirectPolicy.Decision?
///     {
///         redirect.target.host() == "example.com" ? .follow(request) : .doNotFollow
///     }
/// }
/// let gatekeeper = Gatekeeper()
/// let session = try HTTPSession { $0.setDelegate(gatekeeper) }
/// ```
/// The rules of the hooks apply to the methods. The delegate is held weakly; once it is deallocated, the default
/// implementations apply.
///
/// Hooks that change how each response is read, or how connections are opened, have protocols of their own:
/// ``SessionDataDelegate`` and ``SessionTrustDelegate``. Their methods are called only if the delegate conforms to the
/// protocol.
public protocol SessionDelegate: AnyObject, Sendable {
    /// See `TaskHooks.willRedirect`. The default leaves the decision to the session's policy.
    func willRedirect(
        _ redirect: HTTPRedirect, by request: SessionRequest, _ context: TaskHooks.Context
    ) async throws -> RedirectPolicy.Decision?
    /// See `TaskHooks.didReceiveChallenge`. The default uses the proposed stored credential.
    func didReceiveChallenge(
        _ attempt: AuthenticationAttempt, _ context: TaskHooks.Context
    ) async throws -> AuthenticationAttempt.Decision
    /// See `TaskHooks.willRetry`. The default returns the decision of the retriers and the policy.
    func willRetry(
        _ attempt: RetryPolicy.Attempt, _ decision: RetryPolicy.Decision, _ context: TaskHooks.Context
    ) async throws -> RetryPolicy.Decision
    /// See `TaskHooks.needsNewBody`. The default returns nil.
    func needsNewBody(for request: SessionRequest, _ context: TaskHooks.Context) async throws -> HTTPRequestBody?
    /// See `TaskHooks.willPlaceDownload`. The default selects the request's destination.
    func willPlaceDownload(_ file: URL, _ head: HTTPResponse, _ context: TaskHooks.Context) async throws -> URL?

    /// See `TaskHooks.didSendBody`. The default does nothing.
    func didSendBody(_ bytes: Int, _ progress: TransferProgress, _ context: TaskHooks.Context)
    /// See `TaskHooks.isWaitingForConnectivity`. The default does nothing.
    func isWaitingForConnectivity(_ context: TaskHooks.Context)
    /// See `TaskHooks.didReceiveInformational`. The default does nothing.
    func didReceiveInformational(_ head: HTTPResponse, _ context: TaskHooks.Context)
    /// See `TaskHooks.didWriteDownload`. The default does nothing.
    func didWriteDownload(_ bytes: Int, _ progress: TransferProgress, _ context: TaskHooks.Context)
    /// See `TaskHooks.didResumeDownload`. The default does nothing.
    func didResumeDownload(_ progress: TransferProgress, _ context: TaskHooks.Context)
    /// See `TaskHooks.didFinishDownload`. The default does nothing.
    func didFinishDownload(_ file: URL, _ context: TaskHooks.Context)
    /// See `TaskHooks.didCollectMetrics`. The default does nothing.
    func didCollectMetrics(_ metrics: [TransportMetrics], _ context: TaskHooks.Context)
    /// See `TaskHooks.didComplete`. The default does nothing.
    func didComplete(_ error: SessionError?, _ context: TaskHooks.Context)

    /// See `SessionHooks.didReceiveClientCertificateRequest`. The default returns the configured identity.
    func didReceiveClientCertificateRequest(
        _ request: ClientIdentityPolicy.CertificateRequest, _ proposed: ClientIdentity?
    ) async throws -> ClientIdentity?
    /// See `SessionHooks.didBecomeInvalid`. The default does nothing.
    func didBecomeInvalid()
}

/// A delegate that also receives responses and their bodies. Each response of its session is passed on in pieces while
/// it arrives.
public protocol SessionDataDelegate: SessionDelegate {
    /// See `TaskHooks.didReceiveResponse`. The default reads the body.
    func didReceiveResponse(_ head: HTTPResponse, _ context: TaskHooks.Context) async throws
        -> TaskHooks.ResponseDisposition
    /// See `TaskHooks.willCacheResponse`. The default stores the response.
    func willCacheResponse(_ head: HTTPResponse, _ context: TaskHooks.Context) async throws -> TaskHooks.CachingDecision
    /// See `TaskHooks.didReceiveData`. The default does nothing.
    func didReceiveData(_ data: Data, _ context: TaskHooks.Context) async throws
}

/// A delegate that also decides on the certificate chains of servers. Its session resumes no TLS sessions, so each
/// handshake asks the delegate.
public protocol SessionTrustDelegate: SessionDelegate {
    /// See `SessionHooks.didReceiveServerTrust`. There is no default.
    func didReceiveServerTrust(_ trust: ServerTrust, _ decision: TrustDecision) async -> TrustDecision
}

extension SessionDelegate {
    /// Returns nil, which leaves the decision to the session's policy.
    public func willRedirect(
        _ redirect: HTTPRedirect, by request: SessionRequest, _ context: TaskHooks.Context
    ) async throws -> RedirectPolicy.Decision? { nil }

    /// Uses the proposed stored credential.
    public func didReceiveChallenge(
        _ attempt: AuthenticationAttempt, _ context: TaskHooks.Context
    ) async throws -> AuthenticationAttempt.Decision { .performDefault }

    /// Returns the decision of the retriers and the policy.
    public func willRetry(
        _ attempt: RetryPolicy.Attempt, _ decision: RetryPolicy.Decision, _ context: TaskHooks.Context
    ) async throws -> RetryPolicy.Decision { decision }

    /// Returns nil: there is no new body.
    public func needsNewBody(for request: SessionRequest, _ context: TaskHooks.Context) async throws -> HTTPRequestBody?
    {
        nil
    }

    /// Returns nil, which selects the request's destination.
    public func willPlaceDownload(
        _ file: URL, _ head: HTTPResponse, _ context: TaskHooks.Context
    ) async throws -> URL? { nil }

    /// Does nothing.
    public func didSendBody(_ bytes: Int, _ progress: TransferProgress, _ context: TaskHooks.Context) {}

    /// Does nothing.
    public func isWaitingForConnectivity(_ context: TaskHooks.Context) {}

    /// Does nothing.
    public func didReceiveInformational(_ head: HTTPResponse, _ context: TaskHooks.Context) {}

    /// Does nothing.
    public func didWriteDownload(_ bytes: Int, _ progress: TransferProgress, _ context: TaskHooks.Context) {}

    /// Does nothing.
    public func didResumeDownload(_ progress: TransferProgress, _ context: TaskHooks.Context) {}

    /// Does nothing.
    public func didFinishDownload(_ file: URL, _ context: TaskHooks.Context) {}

    /// Does nothing.
    public func didCollectMetrics(_ metrics: [TransportMetrics], _ context: TaskHooks.Context) {}

    /// Does nothing.
    public func didComplete(_ error: SessionError?, _ context: TaskHooks.Context) {}

    /// Returns the configured identity.
    public func didReceiveClientCertificateRequest(
        _ request: ClientIdentityPolicy.CertificateRequest, _ proposed: ClientIdentity?
    ) async throws -> ClientIdentity? { proposed }

    /// Does nothing.
    public func didBecomeInvalid() {}
}

extension SessionDataDelegate {
    /// Reads the body.
    public func didReceiveResponse(
        _ head: HTTPResponse, _ context: TaskHooks.Context
    ) async throws -> TaskHooks.ResponseDisposition { .allow }

    /// Stores the response.
    public func willCacheResponse(
        _ head: HTTPResponse, _ context: TaskHooks.Context
    ) async throws -> TaskHooks.CachingDecision { .store }

    /// Does nothing.
    public func didReceiveData(_ data: Data, _ context: TaskHooks.Context) async throws {}
}
