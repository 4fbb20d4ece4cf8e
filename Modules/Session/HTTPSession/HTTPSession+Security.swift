public import LinnetSecurity
public import LinnetTransport
internal import Synchronization

/// A transport whose security policy can be replaced while it runs.
public protocol SecurityPolicyReplacing: Transport {
    /// Uses this policy for new connections, and closes idle ones made under another.
    func replaceSecurityPolicy(_ policy: SecurityPolicy)
}

extension HTTPTransport: SecurityPolicyReplacing {}

/// A transport whose client identities can be replaced while it runs.
public protocol ClientIdentityReplacing: Transport {
    /// Uses these identities for new connections, and closes idle ones made under another.
    func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(TransportError)
}

extension HTTPTransport: ClientIdentityReplacing {}

extension HTTPSession {
    /// The security policy for new connections.
    public var securityPolicy: SecurityPolicy { terms.policy.withLock { $0 } }

    /// Replaces the security policy: new connections are made under it, idle ones made under the old one are closed, running
    /// requests finish on theirs. Once it has returned, no request begins under the old one, over https or http, including
    /// those that were waiting for a connection. Of two concurrent replacements, the last one applies, and is the value of
    /// ``securityPolicy``.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when the session's transport cannot do that, and for a policy that
    /// ``init(baseURL:_:)`` would refuse with the base URL.
    public func replaceSecurityPolicy(_ policy: SecurityPolicy) throws(SessionError) {
        _ = try URLResolver(baseURL: baseURL, policy: policy)
        guard let transport = transport as? any SecurityPolicyReplacing else {
            throw SessionError(.invalidConfiguration, "The session's transport has no security policy to replace.")
        }
        let asking = try policy.asking(initialConfiguration.sessionHooks.didReceiveServerTrust)
        terms.replacement.withLock { _ in
            transport.replaceSecurityPolicy(asking)
            terms.policy.withLock { $0 = policy }
        }
    }

    /// The client identities for servers that request a certificate, on new connections.
    public var clientIdentities: ClientIdentityPolicy { terms.identities.withLock { $0 } }

    /// Replaces the client identities: new connections are made under them, idle ones to hosts whose identity changes are
    /// closed, running requests finish on theirs. No TLS session of another identity is resumed.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when OpenSSL refuses one of them, or when the session's transport
    /// cannot do that; then nothing changes.
    public func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(SessionError) {
        guard let transport = transport as? any ClientIdentityReplacing else {
            throw SessionError(.invalidConfiguration, "The session's transport has no client identities to replace.")
        }
        let asking = identities.asking(hook: initialConfiguration.sessionHooks.didReceiveClientCertificateRequest)
        let failure = terms.replacement.withLock { _ -> TransportError? in
            do throws(TransportError) {
                try transport.replaceClientIdentities(asking)
                terms.identities.withLock { $0 = identities }
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw SessionError(failure, url: nil) }
    }
}

/// The security policy and the client identities of a session, and of those that share its connections.
final class SessionTerms: Sendable {
    let policy: Mutex<SecurityPolicy>
    let identities: Mutex<ClientIdentityPolicy>
    /// Held while the transport's policy or identities are replaced, so that the session's properties match the transport.
    let replacement = Mutex(())
    /// Whether the session made its transport.
    let ownsTransport: Bool

    init(_ policy: SecurityPolicy, _ identities: ClientIdentityPolicy, ownsTransport: Bool) {
        self.policy = Mutex(policy)
        self.identities = Mutex(identities)
        self.ownsTransport = ownsTransport
    }
}
