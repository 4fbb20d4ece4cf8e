internal import COpenSSL
internal import FoundationEssentials

/// Reads the keys of signatures. A failure has the code ``AuthenticationError/Code/invalidKey``.
enum SignatureKeyReader {
    /// More bytes than any key has.
    private static let mostBytes = 1 << 16

    static func privateKey(_ bytes: Data) throws(AuthenticationError) -> SignatureKeyHandle {
        guard bytes.count <= mostBytes else {
            throw .invalidKey("The bytes are more than \(mostBytes), which no key has.")
        }
        ERR_clear_error()
        defer { ERR_clear_error() }
        let (key, isEncrypted) = bytes.withUnsafeBytes { isPEM(bytes) ? pem($0) : der($0) }
        guard let key else {
            throw .invalidKey(
                isEncrypted
                    ? "The private key is encrypted; decrypt it first, for example with: openssl pkey -in OLD -out NEW."
                    : "The bytes are not a private key that OpenSSL can read, in PEM or DER.")
        }
        let handle = SignatureKeyHandle(owning: key)
        guard handle.isInRange else { throw .invalidKey("The private key is not a number that its curve allows.") }
        return handle
    }

    static func publicKey(_ bytes: Data) throws(AuthenticationError) -> SignatureKeyHandle {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let key = bytes.withUnsafeBytes { bytes in
            withBIO(bytes) { PEM_read_bio_PUBKEY($0, nil, refusesPassphrase, nil) }
        }
        guard let key else { throw .invalidKey("The bytes are not a public key in PEM.") }
        return SignatureKeyHandle(owning: key)
    }

    static func ed25519(_ bytes: Data) throws(AuthenticationError) -> SignatureKeyHandle {
        guard bytes.count == 32 else {
            throw .invalidKey("An Ed25519 key has 32 bytes, not \(bytes.count).")
        }
        return try raw(EVP_PKEY_ED25519, bytes)
    }

    static func secret(_ bytes: Data) throws(AuthenticationError) -> SignatureKeyHandle {
        guard bytes.count >= 16 else {
            throw .invalidKey("A secret for HMAC has 16 bytes or more, not \(bytes.count).")
        }
        return try raw(EVP_PKEY_HMAC, bytes)
    }

    static func p256(_ bytes: Data) throws(AuthenticationError) -> SignatureKeyHandle {
        guard bytes.count == 32 else {
            throw .invalidKey("A private key of the curve P-256 has 32 bytes, not \(bytes.count).")
        }
        // ECPrivateKey (RFC 5915) without the public key, which OpenSSL computes.
        var encoded = Data([0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20])
        encoded += bytes
        encoded += [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        defer { encoded.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
        return try privateKey(encoded)
    }

    private static func raw(_ type: Int32, _ bytes: Data) throws(AuthenticationError) -> SignatureKeyHandle {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let key = bytes.withUnsafeBytes {
            EVP_PKEY_new_raw_private_key(type, nil, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
        }
        guard let key else { throw .invalidKey("OpenSSL does not accept the bytes as a key.") }
        return SignatureKeyHandle(owning: key)
    }

    private static func isPEM(_ bytes: Data) -> Bool { bytes.firstRange(of: Data("-----BEGIN ".utf8)) != nil }

    private static func withBIO<Result>(
        _ bytes: UnsafeRawBufferPointer, _ body: (OpaquePointer) -> Result?
    ) -> Result? {
        guard let count = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, count) else {
            return nil
        }
        defer { BIO_free(bio) }
        return body(bio)
    }

    /// OpenSSL's own function would ask for the passphrase at the terminal.
    private static let refusesPassphrase:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            _, _, _, context in
            context?.storeBytes(of: true, as: Bool.self)
            return -1
        }

    private static func pem(_ bytes: UnsafeRawBufferPointer) -> (key: OpaquePointer?, isEncrypted: Bool) {
        var wasAsked = false
        let found: (OpaquePointer?, Bool)? = withBIO(bytes) { bio in
            var (content, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
            guard
                PEM_bytes_read_bio_secmem(
                    &content, &count, nil, "ANY PRIVATE KEY", bio, refusesPassphrase, &wasAsked) == 1
            else { return nil }
            defer { CRYPTO_secure_clear_free(content, count, #file, #line) }
            return der(UnsafeRawBufferPointer(start: content, count: count))
        }
        return found ?? (nil, wasAsked)
    }

    private static func der(_ bytes: UnsafeRawBufferPointer) -> (key: OpaquePointer?, isEncrypted: Bool) {
        let bytes = bytes.bindMemory(to: UInt8.self)
        var position = bytes.baseAddress
        if let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &position, bytes.count) {
            defer { PKCS8_PRIV_KEY_INFO_free(info) }
            return (EVP_PKCS82PKEY(info), false)
        }
        position = bytes.baseAddress
        if let encrypted = d2i_X509_SIG(nil, &position, bytes.count) {
            X509_SIG_free(encrypted)
            return (nil, true)
        }
        position = bytes.baseAddress
        return (d2i_AutoPrivateKey(nil, &position, bytes.count), false)
    }
}
