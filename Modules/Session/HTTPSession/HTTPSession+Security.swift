public import LinnetSecurity
internal import LinnetTransport
internal import Synchronization

extension HTTPSession {
    /// The security policy for new connections.
    public var securityPolicy: SecurityPolicy { terms.policy.withLock { $0 } }

    /// Replaces the security policy: new connections are made under it, idle ones of the old policy are closed, running
    /// requests finish. When the call returns, no request begins under the old policy, over https or http, not even one
    /// that was waiting for a connection. The last of concurrent replacements applies, and is the value of
    /// ``securityPolicy``.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` if the session's transport does not support it, or if
    /// ``init(baseURL:_:)`` would refuse the policy for the base URL.
    public func replaceSecurityPolicy(_ policy: SecurityPolicy) throws(SessionError) {
        _ = try URLResolver(baseURL: baseURL, policy: policy)
        let asking = try policy.asking(initialConfiguration.sessionHooks.didReceiveServerTrust)
        let former = try replacing { () throws(TransportError) in
            try transport.replaceSecurityPolicy(asking)
            return terms.policy.withLock { current in
                defer { current = policy }
                return current
            }
        }
        // Released after unlocking: an object that only the policy holds may use the session when it is released.
        withExtendedLifetime(former) {}
    }

    /// The client identities for servers that request a certificate, on new connections.
    public var clientIdentities: ClientIdentityPolicy { terms.identities.withLock { $0 } }

    /// Replaces the client identities: new connections use them, idle ones to hosts with another identity are closed,
    /// running requests finish. No TLS session of another identity is resumed.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration``, and changes nothing, if OpenSSL refuses an identity, or if
    /// the session's transport does not support it.
    public func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(SessionError) {
        let asking = identities.asking(hook: initialConfiguration.sessionHooks.didReceiveClientCertificateRequest)
        let former = try replacing { () throws(TransportError) in
            try transport.replaceClientIdentities(asking)
            return terms.identities.withLock { current in
                defer { current = identities }
                return current
            }
        }
        // As in `replaceSecurityPolicy(_:)`.
        withExtendedLifetime(former) {}
    }

    /// Returns what was replaced, to be released after unlocking.
    private func replacing<Former: Sendable>(
        _ replace: () throws(TransportError) -> Former
    ) throws(SessionError) -> Former {
        let outcome = terms.replacement.withLock { _ in Result { () throws(TransportError) in try replace() } }
        do {
            return try outcome.get()
        } catch {
            throw SessionError(error, url: nil)
        }
    }
}

extension HTTPSession.Configuration {
    private var hasOwnPolicy: Bool { securityPolicy.identity != SecurityPolicy.systemTrust.identity }

    /// Replaces the transport's security policy and client identities by the configured ones.
    func handOverTrust(to transport: any Transport) throws(SessionError) {
        let hook = sessionHooks.didReceiveServerTrust
        guard hasOwnPolicy || hook == nil else {
            throw SessionError(
                .invalidConfiguration,
                "A hook for server trust over another transport needs a security policy in the configuration.")
        }
        let policy = try securityPolicy.asking(hook)
        do {
            // The identities come first, because OpenSSL may refuse them, and then nothing must have changed.
            if clientIdentities.chooser != nil || !clientIdentities.identities.isEmpty {
                try transport.replaceClientIdentities(
                    clientIdentities.asking(hook: sessionHooks.didReceiveClientCertificateRequest))
            }
            if hasOwnPolicy { try transport.replaceSecurityPolicy(policy) }
        } catch {
            throw SessionError(thrown: error, url: nil)
        }
    }

    /// Throws if a session that shares another session's connections would ignore this configuration's policy for
    /// servers.
    func checkTrust(sharedWith other: HTTPSession) throws(SessionError) {
        let isSamePolicy = !hasOwnPolicy || securityPolicy.identity == other.securityPolicy.identity
        let isSameHook =
            sessionHooks.didReceiveServerTrust == nil
            || other.initialConfiguration.sessionHooks.didReceiveServerTrust != nil
        guard isSamePolicy, isSameHook else {
            throw SessionError(
                .invalidConfiguration,
                "A session that shares another's connections has its security policy and its hook for server trust.")
        }
    }
}

/// The security policy and the client identities that a session has in common with the sessions that share its
/// connections.
final class SessionTerms: Sendable {
    let policy: Mutex<SecurityPolicy>
    let identities: Mutex<ClientIdentityPolicy>
    /// Held during a replacement of the transport's policy or identities, so that the session's properties match the
    /// transport.
    let replacement = Mutex(())
    /// Whether the session made its transport.
    let ownsTransport: Bool

    init(_ policy: SecurityPolicy, _ identities: ClientIdentityPolicy, ownsTransport: Bool) {
        self.policy = Mutex(policy)
        self.identities = Mutex(identities)
        self.ownsTransport = ownsTransport
    }
}
