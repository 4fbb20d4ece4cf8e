internal import COpenSSL
internal import FoundationEssentials
internal import LinnetSecurity

/// A certificate with its key.
final class Minted: Sendable {
    // SAFETY: not modified after their creation, and OpenSSL's reference counts are atomic.
    nonisolated(unsafe) let x509: OpaquePointer
    nonisolated(unsafe) let key: OpaquePointer
    let certificate: X509Certificate
    let certificatePEM: String
    let privateKeyPEM: String

    /// Takes ownership of both, also if it throws.
    init(x509: OpaquePointer, key: OpaquePointer) throws(TestingError) {
        self.x509 = x509
        self.key = key
        certificatePEM = Mint.text { PEM_write_bio_X509($0, x509) }
        privateKeyPEM = Mint.text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
        do {
            certificate = try X509Certificate(pem: certificatePEM)
        } catch {
            // An object that has no certificate is not deinitialized.
            X509_free(x509)
            EVP_PKEY_free(key)
            throw TestingError(
                .cannotMint, "The created certificate could not be parsed: \(error)", underlying: error)
        }
    }

    deinit {
        X509_free(x509)
        EVP_PKEY_free(key)
    }
}

/// Creates keys and certificates.
enum Mint {
    static func certificate(_ request: CertificateRequest, issuer: Minted?) throws(TestingError) -> Minted {
        guard let key = makeKey(request.key) else {
            throw TestingError(.cannotMint, "OpenSSL could not create a \(request.key) key.")
        }
        guard let x509 = X509_new() else {
            EVP_PKEY_free(key)
            throw TestingError(.cannotMint, "OpenSSL could not allocate a certificate.")
        }
        let signer = issuer?.key ?? key
        let digest = [EVP_PKEY_ED25519, EVP_PKEY_ED448].contains(EVP_PKEY_get_id(signer)) ? nil : EVP_sha256()
        guard fill(x509, request, key: key, issuer: issuer?.x509 ?? x509), X509_sign(x509, signer, digest) > 0 else {
            X509_free(x509)
            EVP_PKEY_free(key)
            throw TestingError(
                .cannotMint, "OpenSSL could not create a certificate for \"\(request.commonName)\".")
        }
        return try Minted(x509: x509, key: key)
    }

    static func makeKey(_ kind: TestPKI.KeyKind) -> OpaquePointer? {
        switch kind {
        case .p256, .p384, .p192: linnet_EVP_EC_gen(kind.description)
        case .rsa1024: linnet_EVP_RSA_gen(1024)
        case .rsa2048: linnet_EVP_RSA_gen(2048)
        case .ed25519: linnet_EVP_ED25519_gen()
        case .ed448: linnet_EVP_ED448_gen()
        case .rsaPSS2048: makePSSKey(bits: 2048)
        default: nil
        }
    }

    private static func makePSSKey(bits: Int32) -> OpaquePointer? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "RSA-PSS", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1,
            EVP_PKEY_generate(context, &key) == 1
        else { return nil }
        return key
    }

    private static func fill(
        _ x509: OpaquePointer, _ request: CertificateRequest, key: OpaquePointer, issuer: OpaquePointer
    ) -> Bool {
        // A positive serial number with 63 random bits (Baseline Requirements, 7.1).
        let serial = UInt64.random(in: 1...UInt64(Int64.max))
        let (start, end) = (request.validity.notBefore, request.validity.notAfter)
        guard X509_set_version(x509, 2) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial) == 1,
            X509_gmtime_adj(X509_getm_notBefore(x509), Int(start.components.seconds)) != nil,
            X509_gmtime_adj(X509_getm_notAfter(x509), Int(end.components.seconds)) != nil,
            let subject = X509_get_subject_name(x509),
            request.commonName.isEmpty
                || X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, request.commonName, -1, -1, 0) == 1,
            X509_set_issuer_name(x509, X509_get_subject_name(issuer)) == 1,
            X509_set_pubkey(x509, key) == 1
        else { return false }
        let isSelfSigned = issuer == x509
        let authority = isSelfSigned ? [] : [(name: "authorityKeyIdentifier", value: "keyid")]
        return (request.extensions + authority).allSatisfy { add($0.name, $0.value, to: x509, issuer: issuer) }
    }

    private static func add(_ name: String, _ value: String, to x509: OpaquePointer, issuer: OpaquePointer) -> Bool {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, x509, nil, nil, 0)
        guard let entry = X509V3_EXT_nconf(nil, &context, name, value) else { return false }
        defer { X509_EXTENSION_free(entry) }
        return X509_add_ext(x509, entry, -1) == 1
    }

    static func text(_ write: (OpaquePointer) -> Int32) -> String {
        guard let bio = BIO_new(BIO_s_mem()) else { return "" }
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { return "" }
        var data: UnsafeMutablePointer<CChar>?
        let count = linnet_BIO_get_mem_data(bio, &data)
        guard count > 0, let data else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
    }
}

/// The content of a certificate to create.
struct CertificateRequest {
    enum Kind {
        case authority(pathLength: Int)
        case server
        case client
        case responder
    }

    var commonName: String
    var kind: Kind
    var hosts: [String] = []
    var addresses: [String] = []
    var validity = TestPKI.Validity.current
    var key = TestPKI.KeyKind.p256
    var promisesStaple = false

    init(commonName: String, kind: Kind) {
        self.commonName = commonName
        self.kind = kind
    }

    init(_ options: TestPKI.Options) {
        // A common name has at most 64 characters (RFC 5280, appendix A.1): it is omitted for a longer host name.
        let name = options.commonName ?? options.hosts.first ?? options.addresses.first ?? "unnamed"
        commonName = name.utf8.count > 64 ? "" : name
        kind = options.isForClients ? .client : .server
        hosts = options.hosts
        addresses = options.addresses
        validity = options.validity
        key = options.key
        promisesStaple = options.promisesStaple
    }

    /// The X.509 extensions in OpenSSL's configuration syntax.
    var extensions: [(name: String, value: String)] {
        var extensions: [(String, String)] = [("subjectKeyIdentifier", "hash")]
        switch kind {
        case .authority(let pathLength):
            extensions.append(("basicConstraints", "critical,CA:TRUE,pathlen:\(pathLength)"))
            extensions.append(("keyUsage", "critical,keyCertSign,cRLSign"))
        case .server:
            let isRSA = key == .rsa1024 || key == .rsa2048
            extensions.append(("basicConstraints", "critical,CA:FALSE"))
            extensions.append(("keyUsage", "critical,digitalSignature" + (isRSA ? ",keyEncipherment" : "")))
            extensions.append(("extendedKeyUsage", "serverAuth"))
        case .client:
            extensions.append(("basicConstraints", "critical,CA:FALSE"))
            extensions.append(("keyUsage", "critical,digitalSignature"))
            extensions.append(("extendedKeyUsage", "clientAuth"))
        case .responder:
            extensions.append(("basicConstraints", "critical,CA:FALSE"))
            extensions.append(("keyUsage", "critical,digitalSignature"))
            extensions.append(("extendedKeyUsage", "OCSPSigning"))
        }
        let names = hosts.map { "DNS:" + $0 } + addresses.map { "IP:" + $0 }
        if !names.isEmpty {
            // Critical when the subject is empty (RFC 5280, 4.2.1.6).
            extensions.append(
                ("subjectAltName", (commonName.isEmpty ? "critical," : "") + names.joined(separator: ",")))
        }
        if promisesStaple { extensions.append(("tlsfeature", "status_request")) }
        return extensions
    }
}
