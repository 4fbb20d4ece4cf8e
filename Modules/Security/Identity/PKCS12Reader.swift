internal import COpenSSL

/// Reads a PKCS#12 file (RFC 7292): a private key with its certificate, and issuers.
enum PKCS12Reader {
    struct Contents {
        var key: PrivateKeyHandle
        var certificates: [Certificate]
    }

    /// Fails with ``SecurityError/Code/invalidIdentity``, ``SecurityError/Code/passphraseNeeded``,
    /// ``SecurityError/Code/wrongPassphrase`` or ``SecurityError/Code/unsupportedEncryption``.
    static func read(_ secret: SecretBytes, passphrase text: String?) throws(SecurityError) -> Contents {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        defer { secret.overwriteFreedCopies() }
        guard let file = secret.withBIO({ d2i_PKCS12_bio($0, nil) }) else {
            throw SecurityError(.invalidIdentity, "These bytes are no PKCS#12 file.")
        }
        defer { PKCS12_free(file) }
        let passphrase = Passphrase(text)
        let hasMAC = PKCS12_mac_present(file) == 1
        if hasMAC { try verify(file, passphrase) }
        return try open(file, passphrase, hasMAC: hasMAC)
    }

    /// Whether the passphrase is right, as far as the file can tell by itself.
    private static func verify(_ file: OpaquePointer, _ passphrase: Passphrase) throws(SecurityError) {
        let isRight = passphrase.withCString { text, count in
            // None and an empty one are two things in the format, and one to whoever made the file.
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
        var certificates = leaf.map { [Certificate(X509Handle(owning: $0))] } ?? []
        if let others {
            for index in 0..<max(0, linnet_sk_X509_num(others)) {
                guard let other = linnet_sk_X509_value(others, index) else { continue }
                certificates.append(Certificate(X509Handle(sharing: other)))
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
            ? SecurityError(.wrongPassphrase, "The passphrase does not open the PKCS#12 file.")
            : SecurityError(.passphraseNeeded, "The PKCS#12 file is encrypted, and no passphrase was given.")
    }

    private static func unsupported(_ algorithm: String) -> SecurityError {
        SecurityError(
            .unsupportedEncryption,
            "The PKCS#12 file is encrypted with \(algorithm), which OpenSSL 3 keeps in its legacy provider; convert it: "
                + "openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW.")
    }
}
