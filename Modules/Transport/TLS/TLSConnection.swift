internal import COpenSSL
internal import FoundationEssentials
internal import LinnetSecurity
internal import NIOCore

/// The client side of TLS without its channel: an `SSL` with its ciphertext.
///
/// Used on one event loop.
final class TLSConnection {
    enum HandshakeStep {
        case complete
        case needsBytes
        /// The peer's chain is in ``presented``; continue after ``receive(_:)``.
        case needsVerdict
        /// The server requests a certificate by one of these authorities; continue after ``answer(_:)``.
        case needsIdentity([String])
        case failed([OpenSSLError])
    }

    enum ReadStep {
        case bytes
        /// The buffer is full; there may be more bytes.
        case full
        case needsBytes
        /// The peer sent close_notify.
        case closed
        case failed([OpenSSLError])

        var isFull: Bool { if case .full = self { true } else { false } }
    }

    private let ssl: OpaquePointer
    private let context: TLSClientContext
    let bio: TLSByteBIO
    /// The decision of the security policy. The handshake cannot complete without it.
    private(set) var verdict: TrustDecision?
    private let resumption: TLSResumption?
    /// The client identity; with a chooser, its answer.
    private var identity: ClientIdentity?
    /// Whether the chooser has yet to be asked or to answer.
    private var owesIdentity: Bool
    private let asksForIdentity: Bool
    /// Why OpenSSL refuses the identity.
    private(set) var identityFailure: TransportError?
    /// The state of the server's request for a certificate.
    private(set) var certificateRequest = TLSCertificateRequest.none
    /// The chain that the server has presented.
    private(set) var presented = TLSPresentedChain()
    private(set) var keepsBuffers = false
    /// Whether the handshake is paused for another evaluation of the chain before the client certificate is sent.
    private var owesVerdictForIdentity = false

    /// Creates a connection. `serverName` is sent as SNI (RFC 6066, 3), and nil for IP addresses. Without `resumption`
    /// the handshake is a full one, and tickets are not kept. The identity is sent if the server requests one. It must
    /// be the identity of `resumption`, unless it is chosen at that time.
    init(
        _ context: TLSClientContext, serverName: String?, applicationProtocols: [String]? = nil,
        resumption: TLSResumption? = nil, identity: ClientIdentity? = nil, asksForIdentity: Bool = false
    ) throws(TransportError) {
        self.context = context
        self.resumption = resumption
        self.identity = identity
        self.asksForIdentity = asksForIdentity
        owesIdentity = asksForIdentity
        bio = try TLSByteBIO()
        guard let ssl = SSL_new(context.pointer) else {
            BIO_free(bio.bio)
            throw TransportError(.tlsHandshakeFailed, "OpenSSL has no memory for a connection.")
        }
        self.ssl = ssl
        SSL_set_bio(ssl, bio.bio, bio.bio)
        SSL_set_ex_data(ssl, TLSConnection.exDataIndex, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_connect_state(ssl)
        if let serverName, linnet_SSL_set_tlsext_host_name(ssl, serverName) != 1 {
            throw TransportError(.tlsHandshakeFailed, "\"\(serverName)\" cannot be sent as a server name.")
        }
        _ = linnet_SSL_set_tlsext_status_type(ssl, TLSEXT_STATUSTYPE_ocsp)
        let protocols = alpnWireFormat(applicationProtocols ?? context.applicationProtocols)
        // Unlike OpenSSL's other functions, this one returns 0 for success.
        if !protocols.isEmpty, SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count)) != 0 {
            throw TransportError(.tlsHandshakeFailed, "The application protocols cannot be offered.")
        }
        resumption?.offerSession(on: ssl)
    }

    deinit {
        SSL_free(ssl)
    }

    /// Takes the decision on ``presented``.
    func receive(_ decision: TrustDecision) {
        verdict = decision
        resumption?.wasJudged(chainBytes: presented.certificates.reduce(0) { $0 + $1.count })
    }

    /// Whether the chain has to be evaluated again because the stapled response has arrived, or is missing although it
    /// was promised or required. Called when it can no longer arrive: the client certificate is requested or the
    /// handshake is complete. Returns true once.
    func owesAnotherVerdict() -> Bool {
        guard case .accepted(let trust) = verdict else { return false }
        return presented.stapleCanArriveNoMore(stapledOCSPResponse, after: trust)
    }

    /// Whether the server is trusted after the handshake: its chain was accepted, or the offered session was resumed
    /// and its decision is still valid.
    ///
    /// OpenSSL presents no chain for a resumed session.
    func confirmTrust() -> Bool {
        if isResumed {
            // The chain of a resumed session was judged in an earlier handshake, so that a verdict in this one is a
            // contradiction.
            guard verdict == nil, let trust = resumption?.resumedTrust() else { return false }
            verdict = .accepted(trust)
        }
        guard case .accepted(let trust) = verdict else { return false }
        if mayKeepSessions { resumption?.keepSession(of: ssl, trust: trust) }
        // The decision is final.
        presented = TLSPresentedChain()
        return true
    }

    /// Whether sessions match their key: not if the identity was chosen during the handshake.
    private var mayKeepSessions: Bool { !asksForIdentity || certificateRequest == .none }

    /// Sets the client identity; nil for none.
    func answer(_ identity: ClientIdentity?) {
        self.identity = identity
        owesIdentity = false
    }

    /// Called when the handshake failed; the offered session is not offered again.
    func handshakeFailed() {
        resumption?.forgetOffer()
    }

    /// Whether the handshake resumed a session. Valid once it is complete.
    var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    func handshake() -> HandshakeStep {
        // `SSL_get_error` takes an older error in the thread's queue for one of this call.
        OpenSSLErrorQueue.clear()
        let result = SSL_do_handshake(ssl)
        if result == 1 { return .complete }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needsBytes
        case SSL_ERROR_WANT_RETRY_VERIFY: return .needsVerdict
        case SSL_ERROR_WANT_X509_LOOKUP:
            guard owesVerdictForIdentity else { return .needsIdentity(acceptableIssuers) }
            owesVerdictForIdentity = false
            return .needsVerdict
        default: return .failed(OpenSSLErrorQueue.drain())
        }
    }

    /// The number of decrypted bytes that were not read yet.
    var pendingBytes: Int { Int(SSL_pending(ssl)) }

    /// Decrypts available bytes into the free space at the end of `plaintext`.
    func read(into plaintext: inout ByteBuffer) -> ReadStep {
        defer {
            // A session ticket makes OpenSSL allocate the buffer for writing, which it would free after the next
            // record.
            if !keepsBuffers { linnet_SSL_free_empty_buffers(ssl) }
        }
        while plaintext.writableBytes > 0 {
            OpenSSLErrorQueue.clear()
            var count = 0
            var result: Int32 = 0
            plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { space in
                result = SSL_read_ex(ssl, space.baseAddress, space.count, &count)
                return result == 1 ? count : 0
            }
            if result == 1 {
                // Another call would only ask for more bytes.
                if bio.inboundBytes == 0 && SSL_has_pending(ssl) == 0 { return .bytes }
                continue
            }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .needsBytes
            case SSL_ERROR_ZERO_RETURN: return .closed
            default: return .failed(OpenSSLErrorQueue.drain())
            }
        }
        return .full
    }

    /// Encrypts all bytes into the BIO. Returns the errors, or nil on success.
    func write(_ plaintext: ByteBuffer) -> [OpenSSLError]? {
        guard plaintext.readableBytes > 0 else { return nil }
        // A record carries at most 16 KiB and adds about 30 bytes.
        bio.reserveOutbound(plaintext.readableBytes + (plaintext.readableBytes / 16384 + 1) * 64)
        return plaintext.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                OpenSSLErrorQueue.clear()
                var written = 0
                let chunk = UnsafeRawBufferPointer(rebasing: rest)
                // The BIO accepts all bytes, so that a failure never means that it is full.
                guard SSL_write_ex(ssl, chunk.baseAddress, chunk.count, &written) == 1 else {
                    return OpenSSLErrorQueue.drain()
                }
                rest = rest.dropFirst(written)
            }
            return nil
        }
    }

    /// Keeps OpenSSL's buffers, about 34 KB, between records, so that a busy connection does not allocate them for
    /// each.
    func keepBuffers() {
        guard !keepsBuffers else { return }
        keepsBuffers = true
        _ = linnet_SSL_clear_mode(ssl, Int(SSL_MODE_RELEASE_BUFFERS))
    }

    /// Frees the buffers of an idle connection, until ``keepBuffers()``.
    func rest() {
        keepsBuffers = false
        _ = linnet_SSL_set_mode(ssl, Int(SSL_MODE_RELEASE_BUFFERS))
        linnet_SSL_free_empty_buffers(ssl)
        bio.rest()
    }

    /// Sends close_notify.
    func shutdown() {
        OpenSSLErrorQueue.clear()
        _ = SSL_shutdown(ssl)
        OpenSSLErrorQueue.clear()
    }

    /// The negotiated parameters. Valid once the handshake is complete.
    func session() -> TLSSessionInfo {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        let cipher = SSL_get_current_cipher(ssl).flatMap { SSL_CIPHER_standard_name($0) }
        let trust: VerifiedTrust? = if case .accepted(let trust) = verdict { trust } else { nil }
        return TLSSessionInfo(
            version: String(cString: SSL_get_version(ssl)),
            cipher: cipher.map { String(cString: $0) } ?? "unknown",
            applicationProtocol: name.map {
                String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self)
            },
            isResumed: isResumed, isKeyLogged: context.keyLog != nil, trust: trust)
    }

    /// The errors as a failure of the client certificate; nil if they are about something else.
    func certificateFailure(_ errors: [OpenSSLError]) -> TransportError? {
        TransportError(errors, after: certificateRequest, identity: identity)
    }

    /// The authorities in the server's certificate request.
    private var acceptableIssuers: [String] {
        let names = SSL_get0_peer_CA_list(ssl)
        return (0..<max(0, names.map { linnet_sk_X509_NAME_num($0) } ?? 0)).compactMap { index in
            linnet_sk_X509_NAME_value(names, index).map { OpenSSLText.name($0) }
        }
    }

    /// Called by OpenSSL when the server has requested a certificate and its own was accepted, and again after a pause.
    ///
    /// In TLS 1.2 everything about the server has arrived by then, including the stapled response (RFC 5246, 7.3; RFC
    /// 6066, 8): the decision becomes final before the client reveals its identity.
    fileprivate func answerCertificateRequest() -> Int32 {
        if owesAnotherVerdict() {
            owesVerdictForIdentity = true
            return -1
        }
        // The certificate identifies the client, so an untrusted server must never see it.
        guard case .accepted = verdict else { return 0 }
        guard !owesIdentity else { return -1 }
        guard let identity else {
            certificateRequest = .unanswered
            return 1
        }
        certificateRequest = .answered
        if identity.use(on: ssl) { return 1 }
        identityFailure = TransportError(
            .clientIdentityUnavailable, "OpenSSL refuses the \(identity): \(OpenSSLErrorQueue.drain().summary).")
        return 0
    }

    /// Called by OpenSSL for each key.
    fileprivate func log(_ line: UnsafePointer<CChar>) {
        context.keyLog?.write(String(cString: line))
    }

    /// The stapled OCSP response if it has arrived: with the chain in TLS 1.3, after it in TLS 1.2.
    private var stapledOCSPResponse: Data? {
        var bytes: UnsafePointer<UInt8>?
        let count = linnet_SSL_get_tlsext_status_ocsp_resp(ssl, &bytes)
        guard count > 0, let bytes else { return nil }
        return Data(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Called by OpenSSL, and again after each pause.
    fileprivate func judge(_ store: OpaquePointer) -> Int32 {
        switch verdict {
        case nil:
            presented = TLSPresentedChain(
                certificates: Self.chain(of: store), staple: stapledOCSPResponse,
                awaitsStaple: SSL_version(ssl) < TLS1_3_VERSION)
            // The flag makes this success a pause; a failure would end the handshake.
            _ = linnet_SSL_set_retry_verify(ssl)
            return 1
        case .accepted:
            X509_STORE_CTX_set_error(store, X509_V_OK)
            return 1
        case .refused(let refusal):
            let code = refusal.verifyCode ?? X509_V_ERR_APPLICATION_VERIFICATION
            // A refusal without a code of its own must not leave X509_V_OK as OpenSSL's result.
            X509_STORE_CTX_set_error(store, code == X509_V_OK ? X509_V_ERR_APPLICATION_VERIFICATION : code)
            return 0
        }
    }

    /// Called by OpenSSL for each new session.
    fileprivate func keep(_ session: OpaquePointer) {
        guard let resumption, mayKeepSessions, case .accepted(let trust) = verdict else { return }
        resumption.keepTicket(session, trust: trust)
    }

    private static func chain(of store: OpaquePointer) -> [Data] {
        let untrusted = X509_STORE_CTX_get0_untrusted(store)
        let count = max(0, untrusted.map { linnet_sk_X509_num($0) } ?? 0)
        let others = (0..<count).map { linnet_sk_X509_value(untrusted, $0) }
        return TLSPresentedChain.encoding(leaf: X509_STORE_CTX_get0_cert(store), others, der)
    }

    private static func der(of certificate: OpaquePointer) -> Data? {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(certificate, &bytes)
        guard count > 0, let bytes else { return nil }
        defer { CRYPTO_free(bytes, #file, #line) }
        return Data(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    fileprivate static let exDataIndex = linnet_SSL_get_ex_new_index()
}

/// The chain that a server presented, and its stapled OCSP response, which TLS 1.2 sends after the chain (RFC 6066, 8).
struct TLSPresentedChain: Sendable {
    private(set) var certificates: [Data] = []
    private(set) var staple: Data?
    /// Whether the stapled response may still arrive.
    private(set) var awaitsStaple = false

    init() {}

    init(certificates: [Data], staple: Data?, awaitsStaple: Bool) {
        (self.certificates, self.staple, self.awaitsStaple) = (certificates, staple, awaitsStaple)
    }

    /// The certificates in DER, leaf first. If one of them cannot be encoded, the result is empty, which evaluators
    /// refuse: otherwise another certificate could be judged in its place.
    ///
    /// - Parameter others: The certificates of the server's message. The first one may be the leaf.
    static func encoding<Certificate>(
        leaf: Certificate?, _ others: [Certificate?], _ encode: (Certificate) -> Data?
    ) -> [Data] {
        guard let first = leaf.flatMap(encode) else { return [] }
        var chain = [first]
        for (index, other) in others.enumerated() {
            guard let encoded = other.flatMap(encode) else { return [] }
            // OpenSSL's list begins with the leaf.
            if index == 0 && encoded == first { continue }
            chain.append(encoded)
        }
        return chain
    }

    /// The input to the security policy.
    func trust(host: String, port: Int) -> ServerTrust {
        var trust = ServerTrust(host: host, port: port, presentedChain: certificates, stapledOCSPResponse: staple)
        trust.awaitsStaple = awaitsStaple
        return trust
    }

    /// Takes the final stapled response after the chain was accepted. Returns true once if the chain has to be
    /// evaluated again, because the response has arrived, or is missing although it was promised or required.
    mutating func stapleCanArriveNoMore(_ response: Data?, after trust: VerifiedTrust) -> Bool {
        guard awaitsStaple else { return false }
        (staple, awaitsStaple) = (response, false)
        if trust.awaitsStaple || response != nil { return true }
        return certificates.first.flatMap { try? X509Certificate(der: $0) }?.promisesStaple ?? false
    }
}

/// The parameters negotiated in a TLS handshake.
struct TLSSessionInfo: Sendable {
    var version: String
    var cipher: String
    var applicationProtocol: String?
    var isResumed = false
    var isKeyLogged = false
    var trust: VerifiedTrust?
}

private func connection(of ssl: OpaquePointer) -> TLSConnection? {
    SSL_get_ex_data(ssl, TLSConnection.exDataIndex).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
}

/// The callback for `SSL_CTX_set_cert_cb`.
func answerCertificateRequest(_ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    ssl.flatMap { connection(of: $0) }?.answerCertificateRequest() ?? 0
}

/// The callback for `SSL_CTX_set_keylog_callback`.
func logKeys(_ ssl: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let ssl, let line else { return }
    connection(of: ssl)?.log(line)
}

/// The callback for `SSL_CTX_set_cert_verify_callback`. Refuses in all unexpected cases.
func judgePresentedChain(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let store,
        let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    else { return 0 }
    return connection(of: OpaquePointer(ssl))?.judge(store) ?? 0
}

/// The callback for `SSL_CTX_sess_set_new_cb`. It does not take ownership of the reference.
func keepNewSession(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    guard let ssl, let session else { return 0 }
    connection(of: ssl)?.keep(session)
    return 0
}
