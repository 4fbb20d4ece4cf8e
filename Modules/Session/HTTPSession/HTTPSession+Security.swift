public import LinnetSecurity
internal import LinnetTransport
internal import Synchronization

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
        let asking = try policy.asking(initialConfiguration.sessionHooks.didReceiveServerTrust)
        try replacing { () throws(TransportError) in
            try transport.replaceSecurityPolicy(asking)
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
        let asking = identities.asking(hook: initialConfiguration.sessionHooks.didReceiveClientCertificateRequest)
        try replacing { () throws(TransportError) in
            try transport.replaceClientIdentities(asking)
            terms.identities.withLock { $0 = identities }
        }
    }

    private func replacing(_ replace: () throws(TransportError) -> Void) throws(SessionError) {
        let outcome = terms.replacement.withLock { _ in Result { () throws(TransportError) in try replace() } }
        do {
            try outcome.get()
        } catch {
            throw SessionError(error, url: nil)
        }
    }
}

extension HTTPSession.Configuration {
    private var hasOwnPolicy: Bool { securityPolicy.identity != SecurityPolicy.systemTrust.identity }

    /// Replaces the transport's security policy and client identities by those that the configuration has.
    func handOverTrust(to transport: any Transport) throws(SessionError) {
        let hook = sessionHooks.didReceiveServerTrust
        guard hasOwnPolicy || hook == nil else {
            throw SessionError(
                .invalidConfiguration,
                "A hook for server trust over another transport needs a security policy in the configuration.")
        }
        let policy = try securityPolicy.asking(hook)
        do {
            // First what OpenSSL may refuse, so that nothing has changed then.
            if clientIdentities.chooser != nil || !clientIdentities.identities.isEmpty {
                try transport.replaceClientIdentities(
                    clientIdentities.asking(hook: sessionHooks.didReceiveClientCertificateRequest))
            }
            if hasOwnPolicy { try transport.replaceSecurityPolicy(policy) }
        } catch {
            throw SessionError(thrown: error, url: nil)
        }
    }

    /// Throws if a session that shares another's connections would ignore how this configuration judges servers.
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
