internal import COpenSSL
package import FoundationEssentials

extension TestPKI {
    /// Creates a certificate from a template, issued by another forged certificate or by an authority of this PKI.
    ///
    /// Adds correct key identifiers unless the template has its own.
    package func forge(
        _ template: CertificateTemplate, by issuer: ForgedCertificate? = nil, byRoot: Bool = false
    ) throws(TestingError) -> ForgedCertificate {
        let own = byRoot ? rootIssuer : intermediateIssuer
        return try Forge.certificate(
            template, signer: issuer?.key ?? own.key,
            issuerName: issuer?.subject ?? Forge.der { i2d_X509_NAME(X509_get_subject_name(own.x509), $0) },
            issuerKey: issuer?.keyIdentifier ?? Forge.keyIdentifier(own.key))
    }

    /// Creates a self-signed certificate from a template, such as a root.
    ///
    /// Adds a correct subject key identifier unless the template has its own.
    ///
    /// - Parameter key: The certificate whose key is used. Nil, the default, creates a new key.
    package static func forgeRoot(
        _ template: CertificateTemplate, withKeyOf key: ForgedCertificate? = nil
    ) throws(TestingError) -> ForgedCertificate {
        try Forge.certificate(template, key: key?.key, issuerName: template.subject)
    }

    /// Creates a cross-certificate from a template: with the key of one certificate, issued by another.
    package static func forge(
        _ template: CertificateTemplate, withKeyOf key: ForgedCertificate, by issuer: ForgedCertificate
    ) throws(TestingError) -> ForgedCertificate {
        try Forge.certificate(
            template, key: key.key, signer: issuer.key, issuerName: issuer.subject, issuerKey: issuer.keyIdentifier)
    }

    /// Creates a revocation list in DER that is not checked.
    ///
    /// - Parameters:
    ///   - entries: The entries as DER, or as bytes that a valid list does not contain.
    ///   - extensions: Extensions beside the list's number.
    ///   - validity: The times in DER. Nil, the default, is from yesterday to a month from now.
    package static func forgeList(
        _ entries: [[UInt8]], extensions: [CertificateTemplate.Extension] = [],
        validity: (thisUpdate: [UInt8], nextUpdate: [UInt8])? = nil, by issuer: ForgedCertificate
    ) throws(TestingError) -> Data {
        try Forge.list(
            entries, extensions: [.init("2.5.29.20", ASN1.integer(1))] + extensions,
            validity: validity
                ?? (CertificateTemplate.time(daysFromNow: -1), CertificateTemplate.time(daysFromNow: 30)),
            by: issuer)
    }

    /// Creates an OCSP response (RFC 6960, 4.2.1) in DER that is not checked.
    ///
    /// - Parameters:
    ///   - fields: The ResponseData as DER, or as bytes that a valid response does not contain.
    ///   - status: The OCSPResponseStatus. The default is 0, successful.
    ///   - algorithm: The AlgorithmIdentifier. Nil, the default, is the one of the signature.
    ///   - certificates: The certificates beside the signature. The default is none.
    package static func forgeResponse(
        _ fields: [UInt8], status: UInt8 = 0, by signer: ForgedCertificate, digest: String = "SHA256",
        algorithm: [UInt8]? = nil, certificates: [ForgedCertificate] = []
    ) throws(TestingError) -> Data {
        let chain = certificates.map { [UInt8]($0.der) }
        let basic = try Forge.sealed(
            fields, algorithm ?? Forge.algorithm(signer.key, digest), by: signer.key, digest: digest,
            rest: chain.isEmpty ? [] : ASN1.value(0xA0, ASN1.sequence(of: chain)))
        let bytes = ASN1.sequence(ASN1.object("1.3.6.1.5.5.7.48.1.1"), ASN1.octetString([UInt8](basic)))
        return Data(ASN1.sequence(ASN1.value(0x0A, [status]), ASN1.value(0xA0, bytes)))
    }

    /// Returns the identity with which a server presents a forged certificate and its issuers.
    package static func identity(
        _ leaf: ForgedCertificate, issuers: [ForgedCertificate]
    ) throws(TestingError) -> Identity {
        Identity(try leaf.minted, issuers: try issuers.map { (issuer) throws(TestingError) in try issuer.minted })
    }
}

extension ForgedCertificate {
    fileprivate var minted: Minted {
        get throws(TestingError) {
            let parsed = der.withUnsafeBytes { bytes in
                var position = bytes.bindMemory(to: UInt8.self).baseAddress
                return d2i_X509(nil, &position, bytes.count)
            }
            guard let parsed else { throw TestingError(.cannotMint, "OpenSSL could not parse the certificate.") }
            EVP_PKEY_up_ref(key)
            return try Minted(x509: parsed, key: key)
        }
    }
}

/// Assembles and signs certificates from templates.
enum Forge {
    /// Signs a template, with its own key when no signer is given, and adds correct key identifiers.
    static func certificate(
        _ template: CertificateTemplate, key given: OpaquePointer? = nil, signer: OpaquePointer? = nil,
        issuerName: [UInt8], issuerKey: [UInt8]? = nil
    ) throws(TestingError) -> ForgedCertificate {
        if let given { EVP_PKEY_up_ref(given) }
        guard let key = given ?? Mint.makeKey(template.keyKind) else {
            throw TestingError(.cannotMint, "OpenSSL could not create a \(template.keyKind) key.")
        }
        var template = template
        let identifier = keyIdentifier(key)
        if !template.extensions.contains(where: { $0.identifier == "2.5.29.14" }) {
            template.set("2.5.29.14", ASN1.octetString(identifier))
        }
        if let issuerKey, !template.extensions.contains(where: { $0.identifier == "2.5.29.35" }) {
            template.set("2.5.29.35", ASN1.sequence(ASN1.value(0x80, issuerKey)))
        }
        // An extension with an empty value is omitted.
        template.extensions.removeAll { $0.value.isEmpty }
        let der = try sign(template, publicKey: key, issuerName: issuerName, signer: signer ?? key)
        return ForgedCertificate(der: der, key: key, subject: template.subject, keyIdentifier: identifier)
    }

    static func sign(
        _ template: CertificateTemplate, publicKey: OpaquePointer, issuerName: [UInt8], signer: OpaquePointer
    ) throws(TestingError) -> Data {
        let algorithm = template.algorithm ?? algorithm(signer, template.digest)
        let extensions = template.extensions.map(\.der)
        let list = extensions.isEmpty ? [] : ASN1.value(0xA3, ASN1.sequence(of: extensions))
        let body = ASN1.sequence(
            template.version.map { ASN1.value(0xA0, ASN1.integer($0)) } ?? [],
            ASN1.integer(template.serialNumber), algorithm, template.issuer ?? issuerName,
            ASN1.sequence(template.notBefore, template.notAfter), template.subject,
            template.publicKey ?? der { i2d_PUBKEY(publicKey, $0) }, template.uniqueIdentifiers, list)
        return try sealed(body, template.outerAlgorithm ?? algorithm, by: signer, digest: template.digest)
    }

    static func list(
        _ entries: [[UInt8]], extensions: [CertificateTemplate.Extension],
        validity: (thisUpdate: [UInt8], nextUpdate: [UInt8]), by issuer: ForgedCertificate
    ) throws(TestingError) -> Data {
        let algorithm = algorithm(issuer.key, "SHA256")
        let body = ASN1.sequence(
            ASN1.integer(1), algorithm, issuer.subject, validity.thisUpdate, validity.nextUpdate,
            entries.isEmpty ? [] : ASN1.sequence(of: entries),
            ASN1.value(0xA0, ASN1.sequence(of: extensions.map(\.der))))
        return try sealed(body, algorithm, by: issuer.key, digest: "SHA256")
    }

    /// The signed body with its signature, and what comes behind it.
    fileprivate static func sealed(
        _ body: [UInt8], _ algorithm: [UInt8], by signer: OpaquePointer, digest: String, rest: [UInt8] = []
    ) throws(TestingError) -> Data {
        guard let signature = signature(body, signer, digest) else {
            throw TestingError(.cannotMint, "OpenSSL could not sign with \(digest).")
        }
        return Data(ASN1.sequence(body, algorithm, ASN1.bitString(signature), rest))
    }

    /// The SHA-1 digest of the public key's bits (RFC 5280, 4.2.1.2), as OpenSSL computes it.
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

    fileprivate static func algorithm(_ key: OpaquePointer, _ digest: String) -> [UInt8] {
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
