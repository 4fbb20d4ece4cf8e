internal import COpenSSL
public import FoundationEssentials
public import LinnetSecurity

extension TestPKI.Identity {
    /// Returns the identity as a `ClientIdentity`.
    ///
    /// - Throws: The errors of `ClientIdentity.init(certificates:privateKey:passphrase:at:)`.
    public func clientIdentity(at time: Date = Date()) throws(SecurityError) -> ClientIdentity {
        try ClientIdentity(
            certificates: Data(certificateChainPEM.utf8), privateKey: Data(privateKeyPEM.utf8), at: time)
    }

    /// Returns the private key as PKCS#8 in PEM, encrypted with AES-256.
    public func privateKeyPEM(passphrase: String) -> String {
        let bytes = Array(passphrase.utf8CString)
        let key = leaf.key
        return Mint.text {
            PEM_write_bio_PKCS8PrivateKey($0, key, EVP_aes_256_cbc(), bytes, Int32(bytes.count - 1), nil, nil)
        }
    }

    /// Returns the key and the chain as a PKCS#12 file (RFC 7292) with AES-256 and SHA-256.
    ///
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotMint``.
    public func pkcs12(passphrase: String) throws(TestingError) -> Data {
        guard let others = linnet_sk_X509_new_null() else {
            throw TestingError(.cannotMint, "OpenSSL could not allocate a chain.")
        }
        defer { linnet_sk_X509_pop_free(others) }
        for issuer in chain.dropFirst() {
            let parsed = issuer.derBytes.withUnsafeBytes { bytes in
                var position = bytes.bindMemory(to: UInt8.self).baseAddress
                return d2i_X509(nil, &position, bytes.count)
            }
            guard let parsed, linnet_sk_X509_push(others, parsed) > 0 else {
                throw TestingError(.cannotMint, "OpenSSL could not add an issuer to the chain.")
            }
        }
        guard let file = PKCS12_create(passphrase, "test", leaf.key, leaf.x509, others, 0, 0, 0, 0, 0) else {
            throw TestingError(.cannotMint, "OpenSSL could not create a PKCS#12 file.")
        }
        defer { PKCS12_free(file) }
        return Data(Forge.der { i2d_PKCS12(file, $0) })
    }
}
