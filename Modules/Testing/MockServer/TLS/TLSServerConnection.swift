internal import COpenSSL
package import FoundationEssentials
internal import LinnetSecurity
internal import NIOCore

/// The parameters of a completed handshake, as the server sees them.
package struct TLSServerHandshake: Sendable {
    /// `TLSv1.2` or `TLSv1.3`.
    package let version: String
    /// The protocol that ALPN selected.
    package let applicationProtocol: String?
    /// The server name that the client sent.
    package let serverName: String?
    /// The client's certificate in DER.
    package let clientCertificate: Data?
}

/// The server side of a TLS connection without its channel: an `SSL` between two memory buffers.
///
/// Used on one event loop.
final class TLSServerConnection {
    enum HandshakeStep {
        case complete
        case needsBytes
        case failed
    }

    enum ReadStep {
        case needsBytes
        /// The client sent close_notify.
        case closed
        case failed(String)
    }

    private let ssl: OpaquePointer
    /// The context retains what its callbacks use.
    private let context: TLSServerContext
    /// The ciphertext in both directions. Owned by the `SSL`.
    private let received: OpaquePointer
    private let sent: OpaquePointer

    init(_ context: TLSServerContext) throws(TestingError) {
        guard let ssl = SSL_new(context.pointer) else {
            throw TestingError(.invalidConfiguration, "OpenSSL has no memory for a connection.")
        }
        guard let received = BIO_new(BIO_s_mem()), let sent = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            throw TestingError(.invalidConfiguration, "OpenSSL has no memory for the buffers of a connection.")
        }
        (self.context, self.ssl, self.received, self.sent) = (context, ssl, received, sent)
        SSL_set_bio(ssl, received, sent)
        SSL_set_accept_state(ssl)
    }

    deinit {
        SSL_free(ssl)
    }

    /// Adds received ciphertext.
    func feed(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { bytes in
            var written = 0
            _ = BIO_write_ex(received, bytes.baseAddress, bytes.count, &written)
        }
    }

    /// Takes the ciphertext to send; nil if there is none.
    func takeCiphertext() -> ByteBuffer? {
        let count = BIO_ctrl_pending(sent)
        guard count > 0 else { return nil }
        var bytes = ByteBuffer()
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { space in
            var taken = 0
            return BIO_read_ex(sent, space.baseAddress, count, &taken) == 1 ? taken : 0
        }
        return bytes
    }

    func handshake() -> HandshakeStep {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        let result = SSL_do_handshake(ssl)
        if result == 1 { return .complete }
        return SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ ? .needsBytes : .failed
    }

    /// Appends all plaintext that can be decrypted.
    func read(into plaintext: inout ByteBuffer) -> ReadStep {
        while true {
            OpenSSLErrorQueue.clear()
            var result: Int32 = 0
            plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: 16_384) { space in
                var count = 0
                result = SSL_read_ex(ssl, space.baseAddress, space.count, &count)
                return result == 1 ? count : 0
            }
            guard result != 1 else { continue }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: return .needsBytes
            case SSL_ERROR_ZERO_RETURN: return .closed
            default: return .failed(OpenSSLErrorQueue.drain().summary)
            }
        }
    }

    /// Encrypts bytes. Returns false if the connection can no longer send.
    func write(_ plaintext: ByteBuffer) -> Bool {
        guard plaintext.readableBytes > 0 else { return true }
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        return plaintext.withUnsafeReadableBytes { bytes in
            // A memory buffer accepts everything, so that there are no partial writes.
            var written = 0
            return SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &written) == 1
        }
    }

    /// Sends close_notify.
    func shutdown() {
        OpenSSLErrorQueue.clear()
        _ = SSL_shutdown(ssl)
        OpenSSLErrorQueue.clear()
    }

    /// The result of the handshake. Valid once it is complete.
    var session: TLSServerHandshake {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return TLSServerHandshake(
            version: String(cString: SSL_get_version(ssl)),
            applicationProtocol: name.map {
                String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self)
            },
            serverName: SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) },
            clientCertificate: clientCertificate)
    }

    private var clientCertificate: Data? {
        guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
        defer { X509_free(certificate) }
        return Data(Forge.der { i2d_X509(certificate, $0) })
    }
}
