public import LinnetSecurity
public import LinnetTransport
internal import Synchronization

/// A transport whose security policy can be replaced while it runs.
public protocol SecurityPolicyReplacing: Transport {
    /// From now on connections are made under this policy, and idle ones made under another are closed.
    func replaceSecurityPolicy(_ policy: SecurityPolicy)
}

extension HTTPTransport: SecurityPolicyReplacing {}

extension Session {
    /// Who is trusted by the connections that are made from now on.
    public var securityPolicy: SecurityPolicy { policy.withLock { $0 } }

    /// Replaces the security policy: new connections are made under it, idle ones made under the old one are closed,
    /// requests that run finish on theirs.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when the session's transport cannot do that.
    public func replaceSecurityPolicy(_ policy: SecurityPolicy) throws(SessionError) {
        guard let transport = transport as? any SecurityPolicyReplacing else {
            throw SessionError(.invalidConfiguration, "The session's transport has no security policy to replace.")
        }
        let asking = try policy.asking(hooks.didReceiveServerTrust)
        self.policy.withLock { current in
            current = policy
        }
        transport.replaceSecurityPolicy(asking)
    }
}
