public import LinnetSecurity

/// Functions that a session calls about itself and its connections, each optional; see ``TaskHooks`` for those about
/// requests.
public struct SessionHooks: Sendable {
    /// Judges a server's chain after the security policy has: what it returns counts, so that it can refuse what the policy
    /// accepted, and the other way round. It is called in the handshake, under the TLS timeout, and not for the requests of a
    /// connection that is open already. With TLS 1.2 it can be called twice (`ServerTrust.awaitsStaple`).
    ///
    /// Setting it makes a policy of another identity. It has no effect with a transport of one's own.
    public var didReceiveServerTrust: (@Sendable (ServerTrust, TrustDecision) async -> TrustDecision)?
    /// The session was shut down, and its connections are closed. Called once, on the callback executor.
    public var didBecomeInvalid: (@Sendable () -> Void)?

    /// No hooks.
    public init() {}
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

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        await hook(trust, await base.evaluate(trust))
    }
}
