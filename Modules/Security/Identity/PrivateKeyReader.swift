internal import COpenSSL

/// Reads a private key: PKCS#8, PKCS#1 or SEC 1, in PEM or DER, perhaps under a passphrase.
///
/// Not by OpenSSL's function for any key in PEM: of what it decodes, that leaves a copy in memory that it frees.
enum PrivateKeyReader {
    /// Fails with ``SecurityError/Code/invalidKey``, ``SecurityError/Code/passphraseNeeded``,
    /// ``SecurityError/Code/wrongPassphrase`` or ``SecurityError/Code/unsupportedEncryption``.
    static func read(_ secret: SecretBytes, passphrase text: String?) throws(SecurityError) -> PrivateKeyHandle {
        let passphrase = Passphrase(text)
        OpenSSLErrorQueue.clear()
        let key = withExtendedLifetime(passphrase) {
            secret.isPEM ? pem(secret, passphrase) : der(UnsafeRawBufferPointer(secret.bytes), passphrase)
        }
        let errors = OpenSSLErrorQueue.drain()
        secret.overwriteFreedCopies()
        guard let key else { throw failure(passphrase, errors) }
        return PrivateKeyHandle(owning: key)
    }

    private static func pem(_ secret: SecretBytes, _ passphrase: Passphrase) -> OpaquePointer? {
        secret.withBIO { bio in
            var (bytes, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
            // Opens what RFC 1421 encrypts, too; PKCS#8 comes as it is.
            guard
                PEM_bytes_read_bio_secmem(
                    &bytes, &count, nil, "ANY PRIVATE KEY", bio, Passphrase.callback, passphrase.context) == 1
            else { return nil }
            defer { CRYPTO_secure_clear_free(bytes, count, #file, #line) }
            return der(UnsafeRawBufferPointer(start: bytes, count: count), passphrase)
        }
    }

    private static func der(_ bytes: UnsafeRawBufferPointer, _ passphrase: Passphrase) -> OpaquePointer? {
        let bytes = bytes.bindMemory(to: UInt8.self)
        var position = bytes.baseAddress
        if let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &position, bytes.count) {
            defer { PKCS8_PRIV_KEY_INFO_free(info) }
            return EVP_PKCS82PKEY(info)
        }
        position = bytes.baseAddress
        if let encrypted = d2i_X509_SIG(nil, &position, bytes.count) {
            defer { X509_SIG_free(encrypted) }
            OpenSSLErrorQueue.clear()
            return passphrase.whenAsked { text, count in
                guard let info = PKCS8_decrypt(encrypted, text, count) else { return nil }
                defer { PKCS8_PRIV_KEY_INFO_free(info) }
                return EVP_PKCS82PKEY(info)
            }
        }
        position = bytes.baseAddress
        return d2i_AutoPrivateKey(nil, &position, bytes.count)
    }

    private static func failure(_ passphrase: Passphrase, _ errors: [OpenSSLError]) -> SecurityError {
        guard passphrase.wasAsked else {
            return SecurityError(.invalidKey, "This is no private key that OpenSSL reads, in PEM or DER.")
        }
        guard passphrase.isGiven else {
            return SecurityError(.passphraseNeeded, "The private key is encrypted, and no passphrase was given.")
        }
        if let algorithm = errors.unsupportedAlgorithm {
            return SecurityError(
                .unsupportedEncryption,
                "The private key is encrypted with \(algorithm), which this OpenSSL does not have in its default "
                    + "providers; encrypt it anew: openssl pkcs8 -topk8 -v2 aes-256-cbc -in OLD -out NEW.")
        }
        return SecurityError(.wrongPassphrase, "The passphrase does not open the private key.")
    }
}

extension [OpenSSLError] {
    /// The name of the algorithm that no provider has; nil when that is not what went wrong.
    var unsupportedAlgorithm: String? {
        guard let error = first(where: { $0.isUnsupported }) else { return nil }
        // "Algorithm (RC2-40-CBC : 0), Properties ()"
        let name = error.detail?.split(separator: "(").dropFirst().first?.split(separator: " ").first
        return name.map { String($0).oneLine } ?? "an algorithm"
    }
}

extension OpenSSLError {
    fileprivate var isUnsupported: Bool {
        reason == LINNET_ERR_R_UNSUPPORTED
            || (library == ERR_LIB_EVP && [EVP_R_UNSUPPORTED_ALGORITHM, EVP_R_UNKNOWN_PBE_ALGORITHM].contains(reason))
    }
}
