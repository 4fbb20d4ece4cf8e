internal import COpenSSL
internal import FoundationEssentials

extension TestPKI {
    /// Makes a certificate from a template, issued by another one, or by the intermediate authority.
    ///
    /// Adds the key identifiers that are right, unless the template has some.
    package func forge(
        _ template: CertificateTemplate, by issuer: ForgedCertificate? = nil, byRoot: Bool = false
    ) throws(TestingError) -> ForgedCertificate {
        guard let key = Mint.makeKey(template.keyKind) else {
            throw TestingError(.cannotMint, "OpenSSL makes no \(template.keyKind) key.")
        }
        let own = byRoot ? rootIssuer : intermediateIssuer
        let signer = issuer?.key ?? own.key
        let issuerName = issuer?.subject ?? Forge.der { i2d_X509_NAME(X509_get_subject_name(own.x509), $0) }
        let issuerKey = issuer?.keyIdentifier ?? Forge.keyIdentifier(own.key)
        var template = template
        let identifier = Forge.keyIdentifier(key)
        if !template.extensions.contains(where: { $0.identifier == "2.5.29.14" }) {
            template.set("2.5.29.14", ASN1.octetString(identifier))
        }
        if !template.extensions.contains(where: { $0.identifier == "2.5.29.35" }) {
            template.set("2.5.29.35", ASN1.sequence(ASN1.value(0x80, issuerKey)))
        }
        // An empty value says that the extension is to be left out.
        template.extensions.removeAll { $0.value.isEmpty }
        let der = try Forge.sign(template, publicKey: key, issuerName: issuerName, signer: signer)
        return ForgedCertificate(der: der, key: key, subject: template.subject, keyIdentifier: identifier)
    }
}

/// Puts a certificate together and signs it.
enum Forge {
    static func sign(
        _ template: CertificateTemplate, publicKey: OpaquePointer, issuerName: [UInt8], signer: OpaquePointer
    ) throws(TestingError) -> Data {
        let algorithm = template.algorithm ?? algorithm(signer, template.digest)
        let extensions = template.extensions.map { entry in
            ASN1.sequence(
                ASN1.object(entry.identifier), entry.isCritical ? ASN1.yes : [], ASN1.octetString(entry.value))
        }
        let list = extensions.isEmpty ? [] : ASN1.value(0xA3, ASN1.sequence(of: extensions))
        let body = ASN1.sequence(
            template.version.map { ASN1.value(0xA0, ASN1.integer($0)) } ?? [],
            ASN1.integer(template.serialNumber), algorithm, template.issuer ?? issuerName,
            ASN1.sequence(template.notBefore, template.notAfter), template.subject,
            template.publicKey ?? der { i2d_PUBKEY(publicKey, $0) }, template.uniqueIdentifiers, list)
        guard let signature = signature(body, signer, template.digest) else {
            throw TestingError(.cannotMint, "OpenSSL does not sign with \(template.digest).")
        }
        return Data(ASN1.sequence(body, template.outerAlgorithm ?? algorithm, ASN1.bitString(signature)))
    }

    /// SHA-1 of the key's bits (RFC 5280, 4.2.1.2), as OpenSSL makes it.
    static func keyIdentifier(_ key: OpaquePointer) -> [UInt8] {
        let info = der { i2d_PUBKEY(key, $0) }
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        var position: UnsafePointer<UInt8>?
        info.withUnsafeBufferPointer { bytes in
            position = bytes.baseAddress
            guard let parsed = d2i_X509_PUBKEY(nil, &position, bytes.count) else { return }
            defer { X509_PUBKEY_free(parsed) }
            var bits: UnsafePointer<UInt8>?
            var count: Int32 = 0
            guard X509_PUBKEY_get0_param(nil, &bits, &count, nil, parsed) == 1 else { return }
            _ = SHA1(bits, Int(count), &digest)
        }
        return digest
    }

    static func der(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> [UInt8] {
        var out: UnsafeMutablePointer<UInt8>?
        let count = encode(&out)
        guard count > 0, let out else { return [] }
        defer { CRYPTO_free(out, #file, #line) }
        return Array(UnsafeBufferPointer(start: out, count: Int(count)))
    }

    private static func algorithm(_ key: OpaquePointer, _ digest: String) -> [UInt8] {
        switch EVP_PKEY_get_id(key) {
        case EVP_PKEY_RSA:
            let numbers = ["MD5": 4, "SHA1": 5, "SHA224": 14, "SHA256": 11, "SHA384": 12, "SHA512": 13]
            return ASN1.sequence(ASN1.object("1.2.840.113549.1.1.\(numbers[digest] ?? 0)"), ASN1.null)
        case EVP_PKEY_ED25519: return ASN1.sequence(ASN1.object("1.3.101.112"))
        default:
            let numbers = ["SHA1": "1", "SHA224": "3.1", "SHA256": "3.2", "SHA384": "3.3", "SHA512": "3.4"]
            return ASN1.sequence(ASN1.object("1.2.840.10045.4.\(numbers[digest] ?? "0")"))
        }
    }

    private static func signature(_ body: [UInt8], _ key: OpaquePointer, _ digest: String) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        let hash = EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 ? nil : EVP_get_digestbyname(digest)
        var count = 0
        guard EVP_DigestSignInit(context, nil, hash, nil, key) == 1,
            EVP_DigestSign(context, nil, &count, body, body.count) == 1
        else { return nil }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, body, body.count) == 1 else { return nil }
        return Array(signature.prefix(count))
    }
}
