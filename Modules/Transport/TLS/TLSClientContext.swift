internal import COpenSSL
internal import LinnetSecurity

/// An `SSL_CTX` for clients: versions, ciphers, and the callback for the evaluation of chains.
///
/// Created once for a transport. OpenSSL's own verification never decides: ``TLSConnection`` passes the chain on and
/// continues with a ``TrustDecision``.
final class TLSClientContext: Sendable {
    // SAFETY: configured in init and never changed later; OpenSSL counts references with atomics.
    nonisolated(unsafe) let pointer: OpaquePointer
    let applicationProtocols: [String]
    /// Nil if sessions are not resumed.
    let sessions: TLSSessionCache?
    /// The log of connection keys, if there is one.
    let keyLog: TLSKeyLogFile?

    init(
        _ options: TransportConfiguration.TLS, applicationProtocols: [String],
        sessions: TLSSessionCache = TLSSessionCache()
    ) throws(TransportError) {
        do {
            try OpenSSLRuntime.requireSupportedVersion()
        } catch {
            throw TransportError(.invalidConfiguration, "\(error)", underlying: error)
        }
        guard options.minimumVersion.number <= options.maximumVersion.number else {
            throw TransportError(.invalidConfiguration, "The minimum TLS version is above the maximum.")
        }
        keyLog = if let log = options.keyLog { try TLSKeyLogFile.open(log) } else { nil }
        pointer = try makeSSLContext(minimum: options.minimumVersion, maximum: options.maximumVersion)
        self.applicationProtocols = applicationProtocols
        self.sessions = options.sessionResumption ? sessions : nil
        if options.sessionResumption {
            SSL_CTX_clear_options(pointer, LINNET_SSL_OP_NO_TICKET)
            // OpenSSL's cache does not consider policies and decisions; ours receives each session.
            _ = linnet_SSL_CTX_set_session_cache_mode(
                pointer, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
            SSL_CTX_sess_set_new_cb(pointer, keepNewSession)
        }
        // Without this mode, OpenSSL completes the handshake whatever the callback returns.
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(pointer, judgePresentedChain, nil)
        // Called when a server requests a certificate; the connection has the identity.
        SSL_CTX_set_cert_cb(pointer, answerCertificateRequest, nil)
        try TLSAlgorithms(options: options).apply(to: pointer)
        if keyLog != nil { SSL_CTX_set_keylog_callback(pointer, logKeys) }
    }

    /// Throws if OpenSSL would refuse an identity in a handshake, such as one with a weak key.
    func require(_ identities: ClientIdentityPolicy) throws(TransportError) {
        for identity in identities.identities {
            OpenSSLErrorQueue.clear()
            // OpenSSL measures keys by the security level of the context, so that only a connection of this context can
            // tell.
            guard let ssl = SSL_new(pointer) else {
                throw TransportError(.invalidConfiguration, "OpenSSL has no memory for a connection.")
            }
            defer { SSL_free(ssl) }
            guard identity.use(on: ssl) else {
                throw TransportError(
                    .invalidConfiguration,
                    "OpenSSL refuses the \(identity): \(OpenSSLErrorQueue.drain().summary).")
            }
        }
    }

    /// The session resumption for a host; nil if sessions are not resumed.
    func resumption(
        host: String, port: Int, via proxy: ProxyServer? = nil, policy: SecurityPolicy, identity: ClientIdentity? = nil
    ) -> TLSResumption? {
        guard let sessions, policy.allowsSessionResumption else { return nil }
        let key = TLSSessionKey(
            host: host, port: port, policy: policy.identity, applicationProtocols: applicationProtocols,
            clientIdentity: identity?.id, proxy: proxy)
        return TLSResumption(sessions, key)
    }

    deinit {
        SSL_CTX_free(pointer)
    }
}

extension TransportConfiguration.TLS.Version {
    var number: Int32 {
        switch self {
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }
}

/// Protocol names in the ALPN format (RFC 7301, 3.1): each with a length byte.
func alpnWireFormat(_ names: [String]) -> [UInt8] {
    names.filter { (1...255).contains($0.utf8.count) }.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
}

private func makeSSLContext(
    minimum: TransportConfiguration.TLS.Version, maximum: TransportConfiguration.TLS.Version
) throws(TransportError) -> OpaquePointer {
    OpenSSLErrorQueue.clear()
    guard let context = SSL_CTX_new(TLS_client_method()) else {
        throw TransportError(
            .invalidConfiguration, "OpenSSL could not create a TLS context: \(OpenSSLErrorQueue.drain().summary).")
    }
    guard linnet_SSL_CTX_set_min_proto_version(context, minimum.number) == 1,
        linnet_SSL_CTX_set_max_proto_version(context, maximum.number) == 1
    else {
        SSL_CTX_free(context)
        throw TransportError(
            .invalidConfiguration,
            "The configuration of the system's OpenSSL does not allow the configured TLS versions.")
    }
    // Renegotiation could present another certificate after the decision; compression reveals secrets by the length of
    // the records (CRIME).
    SSL_CTX_set_options(
        context, LINNET_SSL_OP_NO_RENEGOTIATION | LINNET_SSL_OP_NO_COMPRESSION | LINNET_SSL_OP_NO_TICKET)
    _ = linnet_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
    // Otherwise OpenSSL reads each record in two steps, its header and its content.
    _ = linnet_SSL_CTX_set_read_ahead(context, 1)
    // A connection keeps its buffers between records once it is used again, or transfers much at once; see
    // ``TLSConnection/keepBuffers()``.
    _ = linnet_SSL_CTX_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS))
    return context
}
