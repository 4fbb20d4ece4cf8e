public import FoundationEssentials
public import HTTPTypes
public import LinnetSecurity
public import LinnetSerialization
public import LinnetTransport

extension SessionDelegate {
    /// Follows the redirect with the proposed request.
    public func willRedirect(
        _ redirect: Redirect, by request: Request, _ context: HookContext
    ) async throws -> RedirectDecision { .follow(request) }

    /// Uses the proposed stored credential.
    public func didReceiveChallenge(
        _ attempt: AuthenticationAttempt, _ context: HookContext
    ) async throws -> AuthenticationDecision { .performDefault }

    /// Returns the decision of the retriers and the policy.
    public func willRetry(
        _ attempt: RetryAttempt, _ decision: RetryDecision, _ context: HookContext
    ) async throws -> RetryDecision { decision }

    /// Returns nil: there is no new body.
    public func needsNewBody(for request: Request, _ context: HookContext) async throws -> HTTPBody? { nil }

    /// Reads the body.
    public func didReceiveResponse(
        _ head: HTTPResponse, _ context: HookContext
    ) async throws -> ResponseDisposition { .allow }

    /// Returns nil, which selects the request's destination.
    public func willPlaceDownload(
        _ file: URL, _ head: HTTPResponse, _ context: HookContext
    ) async throws -> URL? { nil }

    /// Does nothing.
    public func didReceiveData(_ data: Data, _ context: HookContext) async throws {}

    /// Does nothing.
    public func didSendBody(_ bytes: Int, _ progress: TransferProgress, _ context: HookContext) {}

    /// Does nothing.
    public func didReceiveInformational(_ head: HTTPResponse, _ context: HookContext) {}

    /// Does nothing.
    public func didWriteDownload(_ bytes: Int, _ progress: TransferProgress, _ context: HookContext) {}

    /// Does nothing.
    public func didResumeDownload(_ progress: TransferProgress, _ context: HookContext) {}

    /// Does nothing.
    public func didFinishDownload(_ file: URL, _ context: HookContext) {}

    /// Does nothing.
    public func didCollectMetrics(_ metrics: [TransportMetrics], _ context: HookContext) {}

    /// Does nothing.
    public func didComplete(_ error: SessionError?, _ context: HookContext) {}

    /// Returns the policy's decision.
    public func didReceiveServerTrust(_ trust: ServerTrust, _ decision: TrustDecision) async -> TrustDecision {
        decision
    }

    /// Returns the configured identity.
    public func didReceiveClientCertificateRequest(
        _ request: ClientCertificateRequest, _ proposed: ClientIdentity?
    ) async throws -> ClientIdentity? { proposed }

    /// Does nothing.
    public func didBecomeInvalid() {}
}
