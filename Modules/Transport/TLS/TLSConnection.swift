internal import COpenSSL
internal import FoundationEssentials
internal import LinnetSecurity
internal import NIOCore

/// One `SSL`, with the bytes it has to send and to read: the protocol without the channel.
///
/// Belongs to one event loop.
final class TLSConnection {
    enum HandshakeStep {
        case complete
        case needsBytes
        /// The peer's chain is in ``presentedChain``; give the verdict with ``receive(_:)`` and go on.
        case needsVerdict
        /// The server asks for a certificate, by one of these authorities; say which with ``answer(_:)`` and go on.
        case needsIdentity([String])
        case failed([OpenSSLError])
    }

    enum ReadStep {
        case bytes
        /// There is no room for more, of which there may be some.
        case full
        case needsBytes
        /// The peer said close_notify.
        case closed
        case failed([OpenSSLError])

        var isFull: Bool { if case .full = self { true } else { false } }
    }

    private let ssl: OpaquePointer
    /// Owns what the callbacks of the `SSL_CTX` read.
    private let context: AnyObject
    let bio: TLSByteBIO
    /// What the security policy said; the handshake cannot complete on a client before it is there.
    private(set) var verdict: TrustDecision?
    private let resumption: TLSResumption?
    /// As whom the client shows itself; with a chooser, what that answered.
    private var identity: ClientIdentity?
    /// Whether somebody is asked for the identity once the server asks, and has yet to answer.
    private var owesIdentity: Bool
    private let asksForIdentity: Bool
    /// Why the identity cannot be shown.
    private(set) var identityFailure: TransportError?
    private let keyLog: TLSKeyLogFile?
    /// Whether the server has asked for a certificate, and what it got.
    private(set) var certificateRequest = TLSCertificateRequest.none
    private(set) var presentedChain: [Data] = []
    /// Whether the handshake stands still, before the client's certificate is shown, for another verdict on the chain.
    private var owesVerdictForIdentity = false
    /// Whether the verdict is asked for before the staple is there: TLS 1.2 sends it after the chain (RFC 6066, 8).
    private(set) var awaitsStaple = false

    private init(
        _ pointer: OpaquePointer, of context: AnyObject, resumption: TLSResumption? = nil,
        identity: ClientIdentity? = nil, asksForIdentity: Bool = false, keyLog: TLSKeyLogFile? = nil
    ) throws(TransportError) {
        self.context = context
        self.resumption = resumption
        self.identity = identity
        self.asksForIdentity = asksForIdentity
        owesIdentity = asksForIdentity
        self.keyLog = keyLog
        bio = try TLSByteBIO()
        guard let ssl = SSL_new(pointer) else {
            BIO_free(bio.bio)
            throw TransportError(.tlsHandshakeFailed, "OpenSSL has no memory for a connection.")
        }
        self.ssl = ssl
        SSL_set_bio(ssl, bio.bio, bio.bio)
        SSL_set_ex_data(ssl, TLSConnection.exDataIndex, Unmanaged.passUnretained(self).toOpaque())
    }

    /// A client's side. `serverName` goes into SNI (RFC 6066, 3) and is nil for IP addresses. Without `resumption` the
    /// handshake is a full one, and the server's tickets are not kept. The identity is shown if the server asks for one, and
    /// has to be one for which `resumption` was made; unless somebody is to be asked for one then.
    convenience init(
        client context: TLSClientContext, serverName: String?, applicationProtocols: [String]? = nil,
        resumption: TLSResumption? = nil, identity: ClientIdentity? = nil, asksForIdentity: Bool = false
    ) throws(TransportError) {
        try self.init(
            context.pointer, of: context, resumption: resumption, identity: identity,
            asksForIdentity: asksForIdentity, keyLog: context.keyLog)
        SSL_set_connect_state(ssl)
        if let serverName, linnet_SSL_set_tlsext_host_name(ssl, serverName) != 1 {
            throw TransportError(.tlsHandshakeFailed, "\"\(serverName)\" cannot be sent as a server name.")
        }
        _ = linnet_SSL_set_tlsext_status_type(ssl, TLSEXT_STATUSTYPE_ocsp)
        let protocols = alpnWireFormat(applicationProtocols ?? context.applicationProtocols)
        if !protocols.isEmpty, SSL_set_alpn_protos(ssl, protocols, UInt32(protocols.count)) != 0 {
            throw TransportError(.tlsHandshakeFailed, "The application protocols cannot be offered.")
        }
        resumption?.offerSession(on: ssl)
    }

    /// A server's side.
    convenience init(server context: TLSServerContext) throws(TransportError) {
        try self.init(context.pointer, of: context)
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_free(ssl)
    }

    /// What the security policy says of ``presentedChain``.
    func receive(_ decision: TrustDecision) {
        verdict = decision
        resumption?.wasJudged()
    }

    /// Whether the chain has to be judged once more, now that a staple can come no more, since the client's certificate is
    /// asked for or the handshake is complete: because there is one, or because it was promised or wanted. Says so once.
    func owesAnotherVerdict() -> Bool {
        guard awaitsStaple, case .accepted(let trust) = verdict else { return false }
        awaitsStaple = false
        if trust.awaitsStaple || stapledOCSPResponse != nil { return true }
        return presentedChain.first.flatMap { try? Certificate(der: $0) }?.promisesStaple ?? false
    }

    /// Whether the server may be talked to, once the handshake is complete: because its chain was presented in it and
    /// accepted, or because it resumed the session that was offered, and the verdict on which that rests still holds.
    ///
    /// OpenSSL presents no chain when it resumes a session, from wherever that came; hence the question.
    func confirmTrust() -> Bool {
        if isResumed {
            guard verdict == nil, let trust = resumption?.resumedTrust() else { return false }
            verdict = .accepted(trust)
        }
        guard case .accepted(let trust) = verdict else { return false }
        if mayKeepSessions { resumption?.keepSession(of: ssl, trust: trust) }
        return true
    }

    /// Whether sessions stand for what their key says: not for an identity that was chosen when the server asked.
    private var mayKeepSessions: Bool { !asksForIdentity || certificateRequest == .none }

    /// As whom the client shows itself to the server that asks; nil for nobody.
    func answer(_ identity: ClientIdentity?) {
        self.identity = identity
        owesIdentity = false
    }

    /// The handshake failed; what was offered in it is not offered again.
    func handshakeFailed() {
        resumption?.forgetOffer()
    }

    /// Whether the handshake resumed a session. Meaningful once it is complete.
    var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    func handshake() -> HandshakeStep {
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

    /// How much of a record was deciphered and not read.
    var pendingBytes: Int { Int(SSL_pending(ssl)) }

    /// Deciphers what is there into the end of `plaintext`, as far as there is room.
    func read(into plaintext: inout ByteBuffer) -> ReadStep {
        while plaintext.writableBytes > 0 {
            OpenSSLErrorQueue.clear()
            var count = 0
            var result: Int32 = 0
            plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { space in
                result = SSL_read_ex(ssl, space.baseAddress, space.count, &count)
                return result == 1 ? count : 0
            }
            if result == 1 {
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

    /// Encrypts all of it; the ciphertext is in the BIO's outbound end. Nil when it went well.
    func write(_ plaintext: ByteBuffer) -> [OpenSSLError]? {
        guard plaintext.readableBytes > 0 else { return nil }
        // A record carries 16 KiB at most and adds about 30 bytes.
        bio.reserveOutbound(plaintext.readableBytes + (plaintext.readableBytes / 16384 + 1) * 64)
        return plaintext.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                OpenSSLErrorQueue.clear()
                var written = 0
                let chunk = UnsafeRawBufferPointer(rebasing: rest)
                guard SSL_write_ex(ssl, chunk.baseAddress, chunk.count, &written) == 1 else {
                    return OpenSSLErrorQueue.drain()
                }
                rest = rest.dropFirst(written)
            }
            return nil
        }
    }

    /// Says close_notify.
    func shutdown() {
        OpenSSLErrorQueue.clear()
        _ = SSL_shutdown(ssl)
        OpenSSLErrorQueue.clear()
    }

    /// What was negotiated. Meaningful once the handshake is complete.
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
            serverName: SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) },
            isResumed: isResumed, isKeyLogged: keyLog != nil, trust: trust)
    }

    /// The certificate that a client has shown to this server.
    var clientCertificate: Data? {
        guard SSL_is_server(ssl) == 1, let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
        defer { X509_free(certificate) }
        return Self.der(of: certificate)
    }

    /// What the errors say about the client's certificate; nil when they are about something else.
    func certificateFailure(_ errors: [OpenSSLError]) -> TransportError? {
        TransportError(errors, after: certificateRequest, identity: identity)
    }

    /// The authorities that the server named when it asked for a certificate.
    private var acceptableIssuers: [String] {
        let names = SSL_get0_peer_CA_list(ssl)
        return (0..<max(0, names.map { linnet_sk_X509_NAME_num($0) } ?? 0)).compactMap { index in
            linnet_sk_X509_NAME_value(names, index).map { OpenSSLText.name($0) }
        }
    }

    /// Called by OpenSSL when the server has asked for a certificate, and its own was accepted; again after it was put off.
    ///
    /// In TLS 1.2 all that the server says of itself has come by then, the staple included (RFC 5246, 7.3; RFC 6066, 8): the
    /// verdict is made final before the client shows who it is.
    fileprivate func answerCertificateRequest() -> Int32 {
        if owesAnotherVerdict() {
            owesVerdictForIdentity = true
            return -1
        }
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
        keyLog?.write(String(cString: line))
    }

    /// The OCSP response that the server stapled, if it has come: with the chain in TLS 1.3, after it in TLS 1.2.
    var stapledOCSPResponse: Data? {
        var bytes: UnsafePointer<UInt8>?
        let count = linnet_SSL_get_tlsext_status_ocsp_resp(ssl, &bytes)
        guard count > 0, let bytes else { return nil }
        return Data(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Called by OpenSSL, again after each time it was put off.
    fileprivate func judge(_ store: OpaquePointer) -> Int32 {
        switch verdict {
        case nil:
            presentedChain = Self.chain(of: store)
            awaitsStaple = SSL_version(ssl) < TLS1_3_VERSION
            _ = linnet_SSL_set_retry_verify(ssl)
            return 1
        case .accepted:
            X509_STORE_CTX_set_error(store, X509_V_OK)
            return 1
        case .refused(let refusal):
            let code = refusal.verifyCode ?? X509_V_ERR_APPLICATION_VERIFICATION
            X509_STORE_CTX_set_error(store, code == X509_V_OK ? X509_V_ERR_APPLICATION_VERIFICATION : code)
            return 0
        }
    }

    /// Called by OpenSSL for each session that the server is ready to resume.
    fileprivate func keep(_ session: OpaquePointer) {
        guard let resumption, mayKeepSessions, case .accepted(let trust) = verdict else { return }
        resumption.keepTicket(session, trust: trust)
    }

    private static func chain(of store: OpaquePointer) -> [Data] {
        var chain: [Data] = []
        let leaf = X509_STORE_CTX_get0_cert(store)
        if let leaf, let der = der(of: leaf) { chain.append(der) }
        let untrusted = X509_STORE_CTX_get0_untrusted(store)
        for index in 0..<max(0, untrusted.map { linnet_sk_X509_num($0) } ?? 0) {
            guard let certificate = linnet_sk_X509_value(untrusted, index), let der = der(of: certificate) else {
                continue
            }
            // OpenSSL's list begins with the leaf.
            if index == 0 && der == chain.first { continue }
            chain.append(der)
        }
        return chain
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

/// What a TLS handshake agreed on.
struct TLSSessionInfo: Sendable {
    var version: String
    var cipher: String
    var applicationProtocol: String?
    var serverName: String?
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

/// The callback for `SSL_CTX_set_cert_verify_callback`; whatever it cannot make sense of is refused.
func judgePresentedChain(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let store,
        let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
    else { return 0 }
    return connection(of: OpaquePointer(ssl))?.judge(store) ?? 0
}

/// The callback for `SSL_CTX_sess_set_new_cb`. It does not take the reference over.
func keepNewSession(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
    guard let ssl, let session else { return 0 }
    connection(of: ssl)?.keep(session)
    return 0
}
