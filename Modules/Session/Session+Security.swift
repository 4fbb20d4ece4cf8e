public import LinnetSecurity
public import LinnetTransport
internal import Synchronization

/// A transport whose security policy can be replaced while it runs.
public protocol SecurityPolicyReplacing: Transport {
    /// From now on connections are made under this policy, and idle ones made under another are closed.
    func replaceSecurityPolicy(_ policy: SecurityPolicy)
}

extension HTTPTransport: SecurityPolicyReplacing {}

/// A transport whose client identities can be replaced while it runs.
public protocol ClientIdentityReplacing: Transport {
    /// From now on connections are made under these identities, and idle ones made under another are closed.
    func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(TransportError)
}

extension HTTPTransport: ClientIdentityReplacing {}

extension Session {
    /// Who is trusted by the connections that are made from now on.
    public var securityPolicy: SecurityPolicy { policy.withLock { $0 } }

    /// Replaces the security policy: new connections are made under it, idle ones made under the old one are closed,
    /// requests that run finish on theirs. Once it has returned, no request begins under the old one, neither over https nor
    /// over http, also none that was waiting for a connection. Of two replacements at once, one is the last, and holds: it is
    /// what ``securityPolicy`` says.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when the session's transport cannot do that.
    public func replaceSecurityPolicy(_ policy: SecurityPolicy) throws(SessionError) {
        guard let transport = transport as? any SecurityPolicyReplacing else {
            throw SessionError(.invalidConfiguration, "The session's transport has no security policy to replace.")
        }
        let asking = try policy.asking(hooks.didReceiveServerTrust)
        replacement.withLock { _ in
            transport.replaceSecurityPolicy(asking)
            self.policy.withLock { $0 = policy }
        }
    }

    /// As whom the session shows itself to servers that ask for a certificate, on connections that are made from now on.
    public var clientIdentities: ClientIdentityPolicy { identities.withLock { $0 } }

    /// Replaces the client identities: new connections are made under them, idle ones to hosts whose identity is another one
    /// are closed, requests that run finish on theirs. No TLS session of another identity is resumed.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when OpenSSL refuses one of them, or when the session's transport
    /// cannot do that; then nothing changes.
    public func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(SessionError) {
        guard let transport = transport as? any ClientIdentityReplacing else {
            throw SessionError(.invalidConfiguration, "The session's transport has no client identities to replace.")
        }
        let asking = identities.asking(hook: hooks.didReceiveClientCertificateRequest)
        let failure = replacement.withLock { _ -> TransportError? in
            do throws(TransportError) {
                try transport.replaceClientIdentities(asking)
                self.identities.withLock { $0 = identities }
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw SessionError(failure, url: nil) }
    }
}
