public import FoundationEssentials

extension ClientIdentity {
    /// Makes an identity of certificates and a private key, each in PEM or DER, which may be the same text.
    ///
    /// The certificates may come in any order; those that are not above the key's own are left out, and so are roots.
    ///
    /// - Parameters:
    ///   - certificates: The key's certificate, and its issuers.
    ///   - privateKey: PKCS#8, PKCS#1 or SEC 1.
    ///   - passphrase: Opens the key, where it is encrypted. The default is none.
    ///   - time: When the certificate has to be valid. The default is now.
    ///
    /// Fails with ``SecurityError/Code/invalidCertificate``, ``SecurityError/Code/invalidKey``,
    /// ``SecurityError/Code/passphraseNeeded``, ``SecurityError/Code/wrongPassphrase``,
    /// ``SecurityError/Code/unsupportedEncryption``, ``SecurityError/Code/keyMismatch``,
    /// ``SecurityError/Code/identityExpired`` or ``SecurityError/Code/identityNotYetValid``.
    public init(
        certificates: Data, privateKey: Data, passphrase: String? = nil, at time: Date = Date()
    ) throws(SecurityError) {
        try self.init(certificates, SecretBytes(privateKey), passphrase, time)
    }

    /// Makes an identity of a PKCS#12 file's bytes (RFC 7292).
    ///
    /// Files that older programs wrote may be encrypted with RC2, which OpenSSL 3 no longer has by default; the error then
    /// says how they are converted.
    ///
    /// Fails with ``SecurityError/Code/invalidIdentity``, ``SecurityError/Code/passphraseNeeded``,
    /// ``SecurityError/Code/wrongPassphrase``, ``SecurityError/Code/unsupportedEncryption``,
    /// ``SecurityError/Code/keyMismatch``, ``SecurityError/Code/identityExpired`` or
    /// ``SecurityError/Code/identityNotYetValid``.
    public init(pkcs12: Data, passphrase: String? = nil, at time: Date = Date()) throws(SecurityError) {
        try self.init(pkcs12: SecretBytes(pkcs12), passphrase, time)
    }

    /// Reads an identity from files, in PEM or DER; without a key's file, certificates and key are in one.
    ///
    /// Fails with ``SecurityError/Code/cannotReadFile``, and as ``init(certificates:privateKey:passphrase:at:)`` does.
    public static func files(
        certificates: String, privateKey: String? = nil, passphrase: String? = nil, at time: Date = Date()
    ) throws(SecurityError) -> ClientIdentity {
        guard let privateKey else { return try ClientIdentity(both: SecretBytes.file(certificates), passphrase, time) }
        return try ClientIdentity(
            FileBytes.read(certificates), SecretBytes.file(privateKey), passphrase, time)
    }

    /// Reads an identity from a PKCS#12 file.
    ///
    /// Fails with ``SecurityError/Code/cannotReadFile``, and as ``init(pkcs12:passphrase:at:)`` does.
    public static func pkcs12(
        file: String, passphrase: String? = nil, at time: Date = Date()
    ) throws(SecurityError) -> ClientIdentity {
        try ClientIdentity(pkcs12: SecretBytes.file(file), passphrase, time)
    }

    private init(
        _ certificates: Data, _ secret: SecretBytes, _ passphrase: String?, _ time: Date
    ) throws(SecurityError) {
        let certificates = try Certificate.all(data: certificates)
        let key = try PrivateKeyReader.read(secret, passphrase: passphrase)
        self.init(try ClientIdentityHandle(key: key, certificates: certificates, at: time))
    }

    /// One file of both is read as what it also is, a secret.
    private init(both secret: SecretBytes, _ passphrase: String?, _ time: Date) throws(SecurityError) {
        guard let base = secret.bytes.baseAddress, secret.isPEM else {
            throw SecurityError(.invalidIdentity, "The file is no PEM, which alone holds certificates and a key.")
        }
        try self.init(
            Data(bytesNoCopy: base, count: secret.bytes.count, deallocator: .none), secret, passphrase, time)
    }

    private init(pkcs12 secret: SecretBytes, _ passphrase: String?, _ time: Date) throws(SecurityError) {
        let contents = try PKCS12Reader.read(secret, passphrase: passphrase)
        self.init(try ClientIdentityHandle(key: contents.key, certificates: contents.certificates, at: time))
    }
}
