public import LinnetSecurity

/// Optional functions that a session calls for itself and its connections; see ``TaskHooks`` for those for requests.
public struct SessionHooks: Sendable {
    /// Evaluates a server's chain after the security policy. Its decision is final: it can refuse a chain that the policy
    /// accepted, and accept one that it refused. It is called in the handshake, under the TLS timeout, and not for requests on
    /// an open connection. With TLS 1.2 it can be called twice (`ServerTrust.awaitsStaple`). No TLS session is resumed, so that
    /// it is called in each handshake.
    ///
    /// It does not affect which hosts may be reached in clear text. Setting it makes a policy with a different identity. It has
    /// no effect with a custom transport.
    public var didReceiveServerTrust: (@Sendable (ServerTrust, TrustDecision) async -> TrustDecision)?
    /// Chooses the client identity for a server that requests a certificate, from the server's request and the identity that
    /// ``HTTPSession/Configuration/clientIdentities`` has for its host. Nil sends no certificate. An error that it throws fails the
    /// requests that waited for the connection with ``SessionError/Code/hookFailed``.
    ///
    /// It is called in the handshake, once for each connection, under the TLS timeout, and after the server's chain was
    /// accepted. Requests share connections, so its answer also applies to later requests; to change it, call
    /// ``HTTPSession/replaceClientIdentities(_:)``, after which the hook is called again. It has no effect with a custom transport.
    public var didReceiveClientCertificateRequest: ClientCertificateRequest.Chooser?
    /// Called when the session was shut down, its connections are closed, and all hooks and callbacks for the end of a request
    /// were called, except for requests made after the shutdown. Called once, on the callback executor. A streamed response
    /// that is not read to its end delays it until it is dropped.
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

    /// The hook's decision in one handshake does not apply to the next, so no TLS session is resumed.
    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await hook(trust, await base.evaluate(trust))
        guard case .accepted(var verified) = decision else { return decision }
        verified.validUntil = nil
        return .accepted(verified)
    }
}
