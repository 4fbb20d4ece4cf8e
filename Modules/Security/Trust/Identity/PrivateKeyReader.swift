internal import COpenSSL
internal import LinnetMessages

/// Reads a private key: PKCS#8, PKCS#1 or SEC 1, in PEM or DER, encrypted or not.
///
/// OpenSSL's generic PEM function is not used: it frees a copy of the decoded key without wiping it.
enum PrivateKeyReader {
    /// - Throws: ``SecurityError/Code/invalidKey``, ``SecurityError/Code/passphraseNeeded``,
    ///   ``SecurityError/Code/wrongPassphrase`` or ``SecurityError/Code/unsupportedEncryption``.
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
            // Decrypts keys in the RFC 1421 form; encrypted PKCS#8 is returned unchanged.
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
            let iterations = KeyDerivation.iterations(ofKey: encrypted)
            // Parameters that could not be read for the count have left errors, which are not those of the decryption.
            OpenSSLErrorQueue.clear()
            return passphrase.whenAsked(deriving: iterations) { text, count in
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
            return SecurityError(.invalidKey, "The bytes are not a private key that OpenSSL can read, in PEM or DER.")
        }
        guard !passphrase.exceedsIterations else { return KeyDerivation.tooLong("The private key") }
        guard passphrase.isGiven else {
            return SecurityError(.passphraseNeeded, "The private key is encrypted, and no passphrase was given.")
        }
        if let algorithm = errors.unsupportedAlgorithm {
            return SecurityError(
                .unsupportedEncryption,
                "The private key is encrypted with \(algorithm), which is not in the default providers of this "
                    + "OpenSSL; encrypt it again with: openssl pkcs8 -topk8 -v2 aes-256-cbc -in OLD -out NEW.")
        }
        return SecurityError(.wrongPassphrase, "The passphrase of the private key is wrong.")
    }
}

extension [OpenSSLError] {
    /// The name of the unsupported algorithm, or nil if another error occurred.
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

/// Reads a PKCS#12 file (RFC 7292): a private key with its certificate and issuers.
enum PKCS12Reader {
    struct Contents {
        var key: PrivateKeyHandle
        var certificates: [X509Certificate]
    }

    /// - Throws: ``SecurityError/Code/invalidIdentity``, ``SecurityError/Code/passphraseNeeded``,
    ///   ``SecurityError/Code/wrongPassphrase`` or ``SecurityError/Code/unsupportedEncryption``.
    static func read(_ secret: SecretBytes, passphrase text: String?) throws(SecurityError) -> Contents {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        defer { secret.overwriteFreedCopies() }
        guard let file = secret.withBIO({ d2i_PKCS12_bio($0, nil) }) else {
            throw SecurityError(.invalidIdentity, "These bytes are not a PKCS#12 file.")
        }
        defer { PKCS12_free(file) }
        guard KeyDerivation.iterations(ofFile: file) <= KeyDerivation.mostIterations else {
            throw KeyDerivation.tooLong("The PKCS#12 file")
        }
        OpenSSLErrorQueue.clear()
        let passphrase = Passphrase(text)
        let hasMAC = PKCS12_mac_present(file) == 1
        if hasMAC { try verify(file, passphrase) }
        return try open(file, passphrase, hasMAC: hasMAC)
    }

    /// Checks the passphrase against the MAC of the file.
    private static func verify(_ file: OpaquePointer, _ passphrase: Passphrase) throws(SecurityError) {
        let isRight = passphrase.withCString { text, count in
            // The format distinguishes no passphrase from an empty one; programs that write files do not.
            PKCS12_verify_mac(file, text, count) == 1 || (count == 0 && PKCS12_verify_mac(file, "", 0) == 1)
                || (count == 0 && PKCS12_verify_mac(file, nil, 0) == 1)
        }
        guard !isRight else { return }
        if let algorithm = OpenSSLErrorQueue.drain().unsupportedAlgorithm { throw unsupported(algorithm) }
        throw wrong(passphrase)
    }

    private static func open(
        _ file: OpaquePointer, _ passphrase: Passphrase, hasMAC: Bool
    ) throws(SecurityError) -> Contents {
        OpenSSLErrorQueue.clear()
        var (key, leaf, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?) = (nil, nil, nil)
        let isOpen = passphrase.withCString { text, _ in PKCS12_parse(file, text, &key, &leaf, &others) == 1 }
        let errors = OpenSSLErrorQueue.drain()
        let handle = key.map { PrivateKeyHandle(owning: $0) }
        var certificates = leaf.map { [X509Certificate(X509Handle(owning: $0))] } ?? []
        if let others {
            for index in 0..<max(0, linnet_sk_X509_num(others)) {
                guard let other = linnet_sk_X509_value(others, index) else { continue }
                certificates.append(X509Certificate(X509Handle(sharing: other)))
            }
            linnet_sk_X509_pop_free(others)
        }
        guard isOpen else {
            if let algorithm = errors.unsupportedAlgorithm { throw unsupported(algorithm) }
            guard hasMAC else { throw wrong(passphrase) }
            throw SecurityError(.invalidIdentity, "The PKCS#12 file cannot be read: \(errors.summary.oneLine).")
        }
        guard let handle else { throw SecurityError(.invalidIdentity, "The PKCS#12 file has no private key.") }
        return Contents(key: handle, certificates: certificates)
    }

    private static func wrong(_ passphrase: Passphrase) -> SecurityError {
        passphrase.isGiven
            ? SecurityError(.wrongPassphrase, "The passphrase of the PKCS#12 file is wrong.")
            : SecurityError(.passphraseNeeded, "The PKCS#12 file is encrypted, and no passphrase was given.")
    }

    private static func unsupported(_ algorithm: String) -> SecurityError {
        SecurityError(
            .unsupportedEncryption,
            "The PKCS#12 file is encrypted with \(algorithm), which is only in OpenSSL's legacy provider; convert it with: "
                + "openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW.")
    }
}
