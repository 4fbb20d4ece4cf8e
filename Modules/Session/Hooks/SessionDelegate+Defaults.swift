public import FoundationEssentials
public import HTTPTypes
public import LinnetSecurity
public import LinnetSerialization
public import LinnetTransport

extension SessionDelegate {
    /// Follows.
    public func willRedirect(
        _ redirect: Redirect, by request: Request, _ context: HookContext
    ) async throws -> RedirectDecision { .follow(request) }

    /// The stored credential.
    public func didReceiveChallenge(
        _ attempt: AuthenticationAttempt, _ context: HookContext
    ) async throws -> AuthenticationDecision { .performDefault }

    /// The decision that was made.
    public func willRetry(
        _ attempt: RetryAttempt, _ decision: RetryDecision, _ context: HookContext
    ) async throws -> RetryDecision { decision }

    /// None.
    public func needsNewBody(for request: Request, _ context: HookContext) async throws -> HTTPBody? { nil }

    /// Reads on.
    public func didReceiveResponse(
        _ head: HTTPResponse, _ context: HookContext
    ) async throws -> ResponseDisposition { .allow }

    /// Where the request says.
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

    /// The policy's decision.
    public func didReceiveServerTrust(_ trust: ServerTrust, _ decision: TrustDecision) async -> TrustDecision {
        decision
    }

    /// The configured identity.
    public func didReceiveClientCertificateRequest(
        _ request: ClientCertificateRequest, _ proposed: ClientIdentity?
    ) async throws -> ClientIdentity? { proposed }

    /// Does nothing.
    public func didBecomeInvalid() {}
}
