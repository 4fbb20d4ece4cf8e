public import LinnetSecurity

/// Optional functions that a session calls for itself and its connections. ``TaskHooks`` has the functions for
/// requests.
public struct SessionHooks: Sendable {
    /// Evaluates a server's chain after the security policy. Its decision is final: it can refuse a chain that the
    /// policy accepted, and accept one that the policy refused. It is called during the handshake, within the TLS
    /// timeout, and not for requests on an open connection. With TLS 1.2 it can be called twice
    /// (`ServerTrust.awaitsStaple`). TLS sessions are not resumed, so each handshake calls it.
    ///
    /// It does not affect which hosts may be reached in clear text. Setting it creates a policy with a different
    /// identity. It has no effect with a custom transport.
    public var didReceiveServerTrust: (@Sendable (ServerTrust, TrustDecision) async -> TrustDecision)?
    /// Chooses the client identity for a server that requests a certificate, given the server's request and the
    /// identity for its host in ``HTTPSession/Configuration/clientIdentities``. Nil sends no certificate. If it throws,
    /// the requests that wait for the connection fail with ``SessionError/Code/hookFailed``.
    ///
    /// It is called during the handshake, once for each connection, within the TLS timeout, and after the server's
    /// chain was accepted. Requests share connections, so its result also applies to later requests. To change it, call
    /// ``HTTPSession/replaceClientIdentities(_:)``, after which the hook is called again. It has no effect with a
    /// custom transport.
    public var didReceiveClientCertificateRequest: ClientIdentityPolicy.CertificateRequest.Chooser?
    /// Called once, on the callback executor, when the session was shut down, its connections are closed, and all hooks
    /// and callbacks for the end of a request were called. Requests after the shutdown do not delay it. A streamed
    /// response that is not read to its end delays the call until the response is deallocated.
    public var didBecomeInvalid: (@Sendable () -> Void)?

    /// Creates a value without hooks.
    public init() {}
}

extension ClientIdentityPolicy {
    /// Returns a policy that calls a hook with its choice.
    func asking(hook: ClientIdentityPolicy.CertificateRequest.Chooser?) -> ClientIdentityPolicy {
        hook.map { asking($0) } ?? self
    }
}

extension SecurityPolicy {
    /// Returns a policy that calls a hook with its decision.
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

    /// Evaluates the chain, without a validity date: the hook's decision in one handshake does not apply to the next,
    /// so no TLS session may be resumed.
    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await hook(trust, await base.evaluate(trust))
        guard case .accepted(var verified) = decision else { return decision }
        verified.validUntil = nil
        return .accepted(verified)
    }
}
