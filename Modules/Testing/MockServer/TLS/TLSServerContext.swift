internal import COpenSSL
package import FoundationEssentials
internal import LinnetSecurity
package import LinnetTransport

/// An `SSL_CTX` for the server side of TLS: the certificate chain, the protocols, and the requirements on clients.
package final class TLSServerContext: Sendable {
    // SAFETY: configured in init and never changed later; OpenSSL counts references with atomics.
    nonisolated(unsafe) let pointer: OpaquePointer
    private let protocols: ApplicationProtocols
    private let staple: Staple?

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - identity: The certificate chain and its key.
    ///   - applicationProtocols: The protocols for ALPN, in order of preference.
    ///   - maximumVersion: The maximum TLS version. The minimum is TLS 1.2.
    ///   - issuesSessionTickets: Whether clients receive tickets for sessions, which only this context resumes.
    ///   - stapledOCSPResponse: The OCSP response, in DER, for clients that request it.
    ///   - clientCertificates: Whether the server requests client certificates.
    /// - Throws: ``TestingError`` with ``TestingError/Code/invalidConfiguration``.
    package init(
        _ identity: TestPKI.Identity, applicationProtocols: [String] = ["http/1.1"],
        maximumVersion: TransportConfiguration.TLS.Version = .tls13, issuesSessionTickets: Bool = false,
        stapledOCSPResponse: Data? = nil, clientCertificates: MockServer.Configuration.ClientCertificates = .ignored
    ) throws(TestingError) {
        OpenSSLErrorQueue.clear()
        guard let pointer = SSL_CTX_new(TLS_server_method()) else {
            throw TestingError(
                .invalidConfiguration, "OpenSSL could not create a TLS context: \(OpenSSLErrorQueue.drain().summary).")
        }
        self.pointer = pointer
        protocols = ApplicationProtocols(applicationProtocols)
        staple = stapledOCSPResponse.map { Staple($0) }
        guard linnet_SSL_CTX_set_min_proto_version(pointer, TLS1_2_VERSION) == 1,
            linnet_SSL_CTX_set_max_proto_version(
                pointer, maximumVersion == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION) == 1
        else { throw Self.refused("the TLS versions") }
        // The server presents weak certificates, too; clients have to detect them.
        SSL_CTX_set_security_level(pointer, 0)
        _ = linnet_SSL_CTX_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
        SSL_CTX_set_options(
            pointer,
            LINNET_SSL_OP_NO_RENEGOTIATION | LINNET_SSL_OP_NO_COMPRESSION
                | (issuesSessionTickets ? 0 : LINNET_SSL_OP_NO_TICKET))
        // Without the option, TLS 1.3 has tickets that refer to sessions of the server.
        if !issuesSessionTickets { SSL_CTX_set_num_tickets(pointer, 0) }
        guard Self.use(identity, in: pointer) else { throw Self.refused("the certificate chain and key") }
        try request(clientCertificates)
        protocols.register(with: pointer)
        staple?.register(with: pointer)
    }

    deinit {
        SSL_CTX_free(pointer)
    }

    private static func refused(_ what: String) -> TestingError {
        TestingError(.invalidConfiguration, "OpenSSL refuses \(what): \(OpenSSLErrorQueue.drain().summary).")
    }

    // MARK: Certificates

    private func request(
        _ certificates: MockServer.Configuration.ClientCertificates
    ) throws(TestingError) {
        let (authorities, mode) =
            switch certificates {
            case .ignored: ([X509Certificate](), SSL_VERIFY_NONE)
            case .requested(let authorities): (authorities, SSL_VERIFY_PEER)
            case .required(let authorities): (authorities, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT)
            }
        guard mode != SSL_VERIFY_NONE else { return }
        SSL_CTX_set_verify(pointer, mode, nil)
        // Servers that request certificates need a session ID context to resume sessions.
        _ = linnet_SSL_CTX_set_session_id_context(pointer, "linnet")
        for authority in authorities where !accept(authority) { throw Self.refused("an authority for clients") }
    }

    private func accept(_ authority: X509Certificate) -> Bool {
        authority.derBytes.withUnsafeBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            guard let certificate = d2i_X509(nil, &position, bytes.count) else { return false }
            defer { X509_free(certificate) }
            return X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), certificate) == 1
                && SSL_CTX_add_client_CA(pointer, certificate) == 1
        }
    }

    private static func use(_ identity: TestPKI.Identity, in context: OpaquePointer) -> Bool {
        let certificates = readPEM(identity.certificateChainPEM) { PEM_read_bio_X509($0, nil, nil, nil) }
        defer { certificates.forEach { X509_free($0) } }
        guard let leaf = certificates.first, SSL_CTX_use_certificate(context, leaf) == 1 else { return false }
        for issuer in certificates.dropFirst() where linnet_SSL_CTX_add1_chain_cert(context, issuer) != 1 {
            return false
        }
        let keys = readPEM(identity.privateKeyPEM) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        defer { keys.forEach { EVP_PKEY_free($0) } }
        guard let key = keys.first else { return false }
        return SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1
    }

    /// All objects of one kind in a text. The caller owns them.
    private static func readPEM(_ text: String, _ read: (OpaquePointer) -> OpaquePointer?) -> [OpaquePointer] {
        var text = text
        return text.withUTF8 { bytes in
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return [] }
            defer { BIO_free(bio) }
            var objects: [OpaquePointer] = []
            while let object = read(bio) { objects.append(object) }
            // The last read leaves "no start line" in the queue.
            if !objects.isEmpty { OpenSSLErrorQueue.clear() }
            return objects
        }
    }
}

/// Selects a protocol of the client's offer (RFC 7301, 3.2), or none if there is no common one.
private final class ApplicationProtocols: Sendable {
    private let names: [[UInt8]]

    init(_ names: [String]) {
        self.names = names.map { Array($0.utf8) }
    }

    /// Registers the callback. The context must retain this object.
    func register(with context: OpaquePointer) {
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, selected, count, bytes, byteCount, argument in
                guard let selected, let count, let bytes, let argument else { return SSL_TLSEXT_ERR_NOACK }
                let protocols = Unmanaged<ApplicationProtocols>.fromOpaque(argument).takeUnretainedValue()
                let offer = UnsafeBufferPointer(start: bytes, count: Int(byteCount))
                guard let match = protocols.select(from: offer) else { return SSL_TLSEXT_ERR_NOACK }
                selected.pointee = match.baseAddress
                count.pointee = UInt8(match.count)
                return SSL_TLSEXT_ERR_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// The server's most preferred protocol in the offer, as a part of the offer. Each name there has a length byte.
    private func select(from offer: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        var offered: [UnsafeBufferPointer<UInt8>] = []
        var rest = offer[...]
        while let count = rest.popFirst(), rest.count >= Int(count) {
            offered.append(UnsafeBufferPointer(rebasing: rest.prefix(Int(count))))
            rest = rest.dropFirst(Int(count))
        }
        for name in names {
            if let match = offered.first(where: { $0.elementsEqual(name) }) { return match }
        }
        return nil
    }
}

/// The stapled OCSP response of a server (RFC 6066, 8).
private final class Staple: Sendable {
    private let response: Data

    init(_ response: Data) { self.response = response }

    /// Registers the callbacks. The context must retain this object.
    func register(with context: OpaquePointer) {
        _ = linnet_SSL_CTX_set_tlsext_status_cb(context) { ssl, argument in
            guard let ssl, let argument else { return SSL_TLSEXT_ERR_NOACK }
            return Unmanaged<Staple>.fromOpaque(argument).takeUnretainedValue().send(over: ssl)
        }
        _ = linnet_SSL_CTX_set_tlsext_status_arg(context, Unmanaged.passUnretained(self).toOpaque())
    }

    /// OpenSSL takes ownership of the bytes.
    private func send(over ssl: OpaquePointer) -> Int32 {
        let copy = response.withUnsafeBytes { CRYPTO_memdup($0.baseAddress, $0.count, #file, #line) }
        guard let copy else { return SSL_TLSEXT_ERR_NOACK }
        _ = linnet_SSL_set_tlsext_status_ocsp_resp(ssl, copy.assumingMemoryBound(to: UInt8.self), response.count)
        return SSL_TLSEXT_ERR_OK
    }
}
