internal import COpenSSL
package import FoundationEssentials
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
        _ options: TLSOptions, applicationProtocols: [String], sessions: TLSSessionCache = TLSSessionCache()
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
        pointer = try makeSSLContext(
            TLS_client_method(), minimum: options.minimumVersion, maximum: options.maximumVersion)
        self.applicationProtocols = applicationProtocols
        self.sessions = options.sessionResumption ? sessions : nil
        if options.sessionResumption {
            SSL_CTX_clear_options(pointer, LINNET_SSL_OP_NO_TICKET)
            // OpenSSL's cache does not consider policies and decisions; ours receives each session.
            _ = linnet_SSL_CTX_set_session_cache_mode(
                pointer, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
            SSL_CTX_sess_set_new_cb(pointer, keepNewSession)
        }
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
        host: String, port: Int, policy: SecurityPolicy, identity: ClientIdentity? = nil
    ) -> TLSResumption? {
        guard let sessions, policy.allowsSessionResumption else { return nil }
        let key = TLSSessionKey(
            host: host, port: port, policy: policy.identity, applicationProtocols: applicationProtocols,
            clientIdentity: identity?.id)
        return TLSResumption(sessions, key)
    }

    deinit {
        SSL_CTX_free(pointer)
    }
}

/// An `SSL_CTX` for test servers.
package final class TLSServerContext: Sendable {
    // SAFETY: configured in init and never changed later; OpenSSL counts references with atomics.
    nonisolated(unsafe) let pointer: OpaquePointer
    /// How a server treats client certificates.
    package enum ClientCertificates: Sendable {
        case ignored
        /// Requests a certificate by one of these authorities, in DER.
        case requested(issuedBy: [Data])
        /// Requires a certificate.
        case required(issuedBy: [Data])
    }

    private let protocols: Protocols
    private let staple: TLSServerStaple?

    /// The data of the ALPN callback, retained by its context.
    private final class Protocols: Sendable {
        let wireFormat: [UInt8]
        init(_ names: [String]) { wireFormat = alpnWireFormat(names) }
    }

    /// Creates a context from a chain, leaf first, and its key.
    ///
    /// With `issuesSessionTickets`, clients get tickets for sessions that only this context resumes.
    package init(
        certificateChainPEM: String, privateKeyPEM: String, applicationProtocols: [String] = ["http/1.1"],
        minimumVersion: TLSOptions.Version = .tls12, maximumVersion: TLSOptions.Version = .tls13,
        issuesSessionTickets: Bool = false, stapledOCSPResponse: [UInt8]? = nil,
        clientCertificates: ClientCertificates = .ignored
    ) throws(TransportError) {
        pointer = try makeSSLContext(TLS_server_method(), minimum: minimumVersion, maximum: maximumVersion)
        // The server presents weak certificates, too; clients have to detect them.
        SSL_CTX_set_security_level(pointer, 0)
        if issuesSessionTickets { SSL_CTX_clear_options(pointer, LINNET_SSL_OP_NO_TICKET) }
        protocols = Protocols(applicationProtocols)
        staple = stapledOCSPResponse.map { TLSServerStaple($0) }
        staple?.register(with: pointer)
        OpenSSLErrorQueue.clear()
        guard Self.use(chain: certificateChainPEM, key: privateKeyPEM, in: pointer) else {
            throw TransportError(
                .invalidConfiguration,
                "The server's certificate or key cannot be used: \(OpenSSLErrorQueue.drain().summary).")
        }
        try ask(for: clientCertificates)
        SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, out, outLength, offered, offeredLength, argument in
                guard let argument, let out, let outLength, let offered else { return SSL_TLSEXT_ERR_NOACK }
                let ours = Unmanaged<Protocols>.fromOpaque(argument).takeUnretainedValue().wireFormat
                var chosen: UnsafeMutablePointer<UInt8>?
                let result = SSL_select_next_proto(
                    &chosen, outLength, ours, UInt32(ours.count), offered, offeredLength)
                // The result is in the client's offer if it matched ours.
                guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_NOACK }
                let length = Int(outLength.pointee)
                guard let match = findName(chosen, length, in: offered, Int(offeredLength)) else {
                    return SSL_TLSEXT_ERR_NOACK
                }
                out.pointee = match
                return SSL_TLSEXT_ERR_OK
            }, Unmanaged.passUnretained(protocols).toOpaque())
    }

    deinit {
        SSL_CTX_free(pointer)
    }

    private func ask(for certificates: ClientCertificates) throws(TransportError) {
        let (authorities, mode) =
            switch certificates {
            case .ignored: ([Data](), SSL_VERIFY_NONE)
            case .requested(let authorities): (authorities, SSL_VERIFY_PEER)
            case .required(let authorities): (authorities, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT)
            }
        guard mode != SSL_VERIFY_NONE else { return }
        SSL_CTX_set_verify(pointer, mode, nil)
        // Servers that request certificates need a session ID context to resume sessions.
        _ = linnet_SSL_CTX_set_session_id_context(pointer, "linnet")
        for authority in authorities {
            let isAdded = authority.withUnsafeBytes { bytes in
                var position = bytes.bindMemory(to: UInt8.self).baseAddress
                guard let certificate = d2i_X509(nil, &position, bytes.count) else { return false }
                defer { X509_free(certificate) }
                return X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), certificate) == 1
                    && SSL_CTX_add_client_CA(pointer, certificate) == 1
            }
            guard isAdded else {
                throw TransportError(.invalidConfiguration, "An authority for clients cannot be used.")
            }
        }
    }

    private static func use(chain: String, key: String, in context: OpaquePointer) -> Bool {
        guard let certificates = readPEM(chain, { PEM_read_bio_X509($0, nil, nil, nil) }) else { return false }
        defer { certificates.forEach { X509_free($0) } }
        guard let leaf = certificates.first, SSL_CTX_use_certificate(context, leaf) == 1 else { return false }
        for issuer in certificates.dropFirst() where linnet_SSL_CTX_add1_chain_cert(context, issuer) != 1 {
            return false
        }
        guard let keys = readPEM(key, { PEM_read_bio_PrivateKey($0, nil, nil, nil) }), let key = keys.first else {
            return false
        }
        defer { keys.forEach { EVP_PKEY_free($0) } }
        return SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1
    }

    private static func readPEM(_ text: String, _ read: (OpaquePointer) -> OpaquePointer?) -> [OpaquePointer]? {
        var text = text
        return text.withUTF8 { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(bio) }
            var objects: [OpaquePointer] = []
            while let object = read(bio) { objects.append(object) }
            // The last read leaves "no start line" in the queue.
            OpenSSLErrorQueue.clear()
            return objects
        }
    }
}

extension TLSOptions.Version {
    var number: Int32 {
        switch self {
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }
}

/// The position of a name in the client's offer; the callback must not return memory of ours.
private func findName(
    _ name: UnsafeMutablePointer<UInt8>?, _ length: Int, in offered: UnsafePointer<UInt8>, _ count: Int
) -> UnsafePointer<UInt8>? {
    guard let name else { return nil }
    var index = 0
    while index < count {
        let candidate = Int(offered[index])
        guard index + 1 + candidate <= count else { return nil }
        if candidate == length,
            UnsafeBufferPointer(start: offered + index + 1, count: length)
                .elementsEqual(UnsafeBufferPointer(start: UnsafePointer(name), count: length))
        {
            return offered + index + 1
        }
        index += 1 + candidate
    }
    return nil
}

/// Protocol names in the ALPN format (RFC 7301, 3.1): each with a length byte.
func alpnWireFormat(_ names: [String]) -> [UInt8] {
    names.filter { (1...255).contains($0.utf8.count) }.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
}

private func makeSSLContext(
    _ method: OpaquePointer?, minimum: TLSOptions.Version, maximum: TLSOptions.Version
) throws(TransportError) -> OpaquePointer {
    OpenSSLErrorQueue.clear()
    guard let context = SSL_CTX_new(method) else {
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
    SSL_CTX_set_options(
        context, LINNET_SSL_OP_NO_RENEGOTIATION | LINNET_SSL_OP_NO_COMPRESSION | LINNET_SSL_OP_NO_TICKET)
    _ = linnet_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
    _ = linnet_SSL_CTX_set_read_ahead(context, 1)
    return context
}

/// The stapled OCSP response of a test server (RFC 6066, 8).
final class TLSServerStaple: Sendable {
    private let response: [UInt8]

    init(_ response: [UInt8]) { self.response = response }

    /// Registers the callbacks. The context must retain this object.
    func register(with context: OpaquePointer) {
        _ = linnet_SSL_CTX_set_tlsext_status_cb(context) { ssl, argument in
            guard let ssl, let argument else { return SSL_TLSEXT_ERR_NOACK }
            return Unmanaged<TLSServerStaple>.fromOpaque(argument).takeUnretainedValue().send(over: ssl)
        }
        _ = linnet_SSL_CTX_set_tlsext_status_arg(context, Unmanaged.passUnretained(self).toOpaque())
    }

    /// OpenSSL takes ownership of the bytes.
    private func send(over ssl: OpaquePointer) -> Int32 {
        guard let copy = CRYPTO_memdup(response, response.count, #file, #line) else { return SSL_TLSEXT_ERR_NOACK }
        let bytes = copy.assumingMemoryBound(to: UInt8.self)
        _ = linnet_SSL_set_tlsext_status_ocsp_resp(ssl, bytes, response.count)
        return SSL_TLSEXT_ERR_OK
    }
}
