public import LinnetSecurity

/// Functions that a session calls about itself and its connections, each optional; see ``TaskHooks`` for those about
/// requests.
public struct SessionHooks: Sendable {
    /// Judges a server's chain after the security policy has: what it returns counts, so that it can refuse what the policy
    /// accepted, and the other way round. It is called in the handshake, under the TLS timeout, and not for the requests of a
    /// connection that is open already. With TLS 1.2 it can be called twice (`ServerTrust.awaitsStaple`). So that it is asked
    /// in each handshake, no TLS session is resumed.
    ///
    /// It does not change to which hosts clear text may go, where there is no chain to judge. Setting it makes a policy of
    /// another identity. It has no effect with a transport of one's own.
    public var didReceiveServerTrust: (@Sendable (ServerTrust, TrustDecision) async -> TrustDecision)?
    /// Chooses whom the client shows itself to be to a server that asks for a certificate: from what the server wants, and the
    /// identity that ``Session/Configuration/clientIdentities`` has for its host. Nil shows nobody. What it throws fails the
    /// requests that waited for the connection with ``SessionError/Code/hookFailed``.
    ///
    /// It is called in the handshake, once for each connection, under the TLS timeout, and after the server's chain was
    /// accepted. Requests share connections, so its answer holds for whoever comes later, too; when it would be another, call
    /// ``Session/replaceClientIdentities(_:)``, which has it asked again. It has no effect with a transport of one's own.
    public var didReceiveClientCertificateRequest: ClientCertificateRequest.Chooser?
    /// The session was shut down, its connections are closed, and all hooks and callbacks that tell of the end of a request
    /// were called, but for requests that were made after the shutdown. Called once, on the callback executor. A streamed
    /// response that nobody reads to its end delays it until it is dropped.
    public var didBecomeInvalid: (@Sendable () -> Void)?

    /// No hooks.
    public init() {}
}

extension ClientIdentityPolicy {
    /// A policy that has a hook choose after it.
    func asking(hook: ClientCertificateRequest.Chooser?) -> ClientIdentityPolicy {
        hook.map { asking($0) } ?? self
    }
}

extension SecurityPolicy {
    /// A policy that has a hook judge after it.
    func asking(
        _ hook: (@Sendable (ServerTrust, TrustDecision) async -> TrustDecision)?
    ) throws(SessionError) -> SecurityPolicy {
        guard let hook else { return self }
        do throws(SecurityError) {
            var policy = try SecurityPolicy(
                rules: rules.map { HostRule($0.pattern, AskingEvaluator(base: $0.evaluator, hook: hook)) },
                otherHosts: AskingEvaluator(base: otherHosts, hook: hook))
            policy.allowsSessionResumption = allowsSessionResumption
            return reporter.map { policy.reporting(to: $0) } ?? policy
        } catch {
            throw SessionError(.invalidConfiguration, error.message, underlying: error)
        }
    }
}

private struct AskingEvaluator: TrustEvaluator {
    let base: any TrustEvaluator
    let hook: @Sendable (ServerTrust, TrustDecision) async -> TrustDecision

    var isPinning: Bool { base.isPinning }
    var allowsCleartext: Bool { base.allowsCleartext }

    /// What the hook will say of the next handshake is not known in this one: no session stands for its answer.
    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await hook(trust, await base.evaluate(trust))
        guard case .accepted(var verified) = decision else { return decision }
        verified.validUntil = nil
        return .accepted(verified)
    }
}
