internal import COpenSSL

/// The OCSP response that a test server staples to its chain (RFC 6066, 8).
final class TLSServerStaple: Sendable {
    private let response: [UInt8]

    init(_ response: [UInt8]) { self.response = response }

    /// The context must keep it alive.
    func register(with context: OpaquePointer) {
        _ = linnet_SSL_CTX_set_tlsext_status_cb(context) { ssl, argument in
            guard let ssl, let argument else { return SSL_TLSEXT_ERR_NOACK }
            return Unmanaged<TLSServerStaple>.fromOpaque(argument).takeUnretainedValue().send(over: ssl)
        }
        _ = linnet_SSL_CTX_set_tlsext_status_arg(context, Unmanaged.passUnretained(self).toOpaque())
    }

    /// OpenSSL frees what it is given.
    private func send(over ssl: OpaquePointer) -> Int32 {
        guard let copy = CRYPTO_memdup(response, response.count, #file, #line) else { return SSL_TLSEXT_ERR_NOACK }
        let bytes = copy.assumingMemoryBound(to: UInt8.self)
        _ = linnet_SSL_set_tlsext_status_ocsp_resp(ssl, bytes, response.count)
        return SSL_TLSEXT_ERR_OK
    }
}
