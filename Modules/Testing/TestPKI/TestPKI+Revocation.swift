internal import COpenSSL
public import FoundationEssentials
public import LinnetSecurity

extension TestPKI {
    /// An authority of a test PKI.
    public enum Authority: Sendable {
        /// The root authority.
        case root
        /// The intermediate authority.
        case intermediate
    }

    /// The status of a certificate in an OCSP response (RFC 6960, 2.2).
    public enum Status: Sendable {
        /// The certificate is not revoked.
        case good
        /// The certificate is revoked.
        case revoked
        /// The responder does not know the certificate.
        case unknown
    }

    private func issuer(_ authority: Authority) -> Minted { authority == .root ? rootIssuer : intermediateIssuer }

    /// Creates a certificate revocation list (RFC 5280, 5) in DER.
    ///
    /// - Parameters:
    ///   - revoked: The revoked certificates.
    ///   - authority: The issuer. The default is the intermediate authority, which issues identities.
    ///   - validity: The period from `thisUpdate` to `nextUpdate`. The default is ``Validity/current``.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotMint``.
    public func revocationList(
        revoking revoked: [X509Certificate], by authority: Authority = .intermediate, validity: Validity = .current
    ) throws(TestingError) -> Data {
        try revocationList(revoking: revoked, by: authority, validity: validity, distributionPoint: nil)
    }

    /// Creates a revocation list with an issuing distribution point (RFC 5280, 5.2.5), in DER, that is not checked.
    package func revocationList(
        revoking revoked: [X509Certificate], by authority: Authority = .intermediate, validity: Validity = .current,
        distributionPoint: [UInt8]?
    ) throws(TestingError) -> Data {
        let issuer = issuer(authority)
        guard let list = X509_CRL_new(), let now = ASN1_TIME_new() else {
            throw TestingError(.cannotMint, "OpenSSL could not allocate a revocation list.")
        }
        defer {
            X509_CRL_free(list)
            ASN1_TIME_free(now)
        }
        func time(_ offset: Duration) -> UnsafeMutablePointer<ASN1_TIME>? {
            X509_gmtime_adj(now, Int(offset.components.seconds))
        }
        guard X509_CRL_set_version(list, 1) == 1,
            X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer.x509)) == 1,
            X509_CRL_set1_lastUpdate(list, time(validity.notBefore)) == 1,
            X509_CRL_set1_nextUpdate(list, time(validity.notAfter)) == 1,
            revoked.allSatisfy({ add($0, to: list) }),
            Self.add(number: 1, authority: issuer, to: list),
            distributionPoint.map({ Self.add(distributionPoint: $0, to: list) }) ?? true,
            X509_CRL_sort(list) == 1, X509_CRL_sign(list, issuer.key, EVP_sha256()) > 0
        else { throw TestingError(.cannotMint, "OpenSSL could not create a revocation list.") }
        return Data(Forge.der { i2d_X509_CRL(list, $0) })
    }

    private func add(_ certificate: X509Certificate, to list: OpaquePointer) -> Bool {
        certificate.derBytes.withUnsafeBytes { bytes in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            guard let parsed = d2i_X509(nil, &position, bytes.count), let entry = X509_REVOKED_new() else {
                return false
            }
            defer { X509_free(parsed) }
            return X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(parsed)) == 1
                && X509_REVOKED_set_revocationDate(entry, X509_getm_notBefore(parsed)) == 1
                && X509_CRL_add0_revoked(list, entry) == 1
        }
    }

    private static func add(number: Int, authority: Minted, to list: OpaquePointer) -> Bool {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, authority.x509, nil, nil, list, 0)
        for (name, value) in [("crlNumber", nil), ("authorityKeyIdentifier", "keyid")] as [(String, String?)] {
            guard let value else {
                guard let count = ASN1_INTEGER_new() else { return false }
                defer { ASN1_INTEGER_free(count) }
                guard ASN1_INTEGER_set(count, number) == 1,
                    X509_CRL_add1_ext_i2d(list, NID_crl_number, count, 0, 0) == 1
                else { return false }
                continue
            }
            guard let entry = X509V3_EXT_nconf(nil, &context, name, value) else { return false }
            defer { X509_EXTENSION_free(entry) }
            guard X509_CRL_add_ext(list, entry, -1) == 1 else { return false }
        }
        return true
    }

    private static func add(distributionPoint value: [UInt8], to list: OpaquePointer) -> Bool {
        guard let octets = ASN1_OCTET_STRING_new() else { return false }
        defer { ASN1_OCTET_STRING_free(octets) }
        guard ASN1_OCTET_STRING_set(octets, value, Int32(value.count)) == 1,
            let entry = X509_EXTENSION_create_by_NID(nil, NID_issuing_distribution_point, 1, octets)
        else { return false }
        defer { X509_EXTENSION_free(entry) }
        return X509_CRL_add_ext(list, entry, -1) == 1
    }

    /// Creates an OCSP response (RFC 6960) for an identity's leaf certificate in DER.
    ///
    /// - Parameters:
    ///   - identity: The identity.
    ///   - status: The status of its certificate. The default is `.good`.
    ///   - validity: The period from `thisUpdate` to `nextUpdate`. The default is ``Validity/current``.
    ///   - responder: The signer. Nil, the default, is the intermediate authority, which issued the certificate.
    ///   - usesSHA256: Whether the certificate is identified with SHA-256 instead of SHA-1. The default is false.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotMint``.
    public func ocspResponse(
        about identity: Identity, _ status: Status = .good, validity: Validity = .current,
        signedBy responder: Identity? = nil, usesSHA256: Bool = false
    ) throws(TestingError) -> Data {
        let digest = usesSHA256 ? EVP_sha256() : EVP_sha1()
        return try response(about: identity, status, validity: validity, namedBy: digest) { basic in
            let signer = responder?.leaf ?? intermediateIssuer
            let flags = UInt(responder == nil ? OCSP_NOCERTS : 0)
            return OCSP_basic_sign(basic, signer.x509, signer.key, EVP_sha256(), nil, flags) == 1
        }
    }

    /// Creates an OCSP response that a responder with an RSA key signs with RSASSA-PSS; the digest has its OpenSSL
    /// name.
    package func ocspResponse(
        about identity: Identity, signedBy responder: Identity, pssDigest: String
    ) throws(TestingError) -> Data {
        try response(about: identity, .good, validity: .current, namedBy: EVP_sha1()) { basic in
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            var padding: OpaquePointer?
            return EVP_DigestSignInit(context, &padding, EVP_get_digestbyname(pssDigest), nil, responder.leaf.key) == 1
                && EVP_PKEY_CTX_set_rsa_padding(padding, RSA_PKCS1_PSS_PADDING) == 1
                && OCSP_basic_sign_ctx(basic, responder.leaf.x509, context, nil, 0) == 1
        }
    }

    /// A place of extensions in an OCSP response (RFC 6960, 4.2.1).
    package enum ResponsePart: Sendable {
        case response
        case singleResponse
    }

    /// Creates an OCSP response with an extension that no standard defines.
    package func ocspResponse(
        about identity: Identity, _ status: Status = .good, unknownExtensionIn part: ResponsePart, isCritical: Bool
    ) throws(TestingError) -> Data {
        try response(about: identity, status, validity: .current, namedBy: EVP_sha1()) { basic in
            guard let object = OBJ_txt2obj("1.3.6.1.4.1.99999.1", 1), let value = ASN1_OCTET_STRING_new() else {
                return false
            }
            defer {
                ASN1_OBJECT_free(object)
                ASN1_OCTET_STRING_free(value)
            }
            guard let own = X509_EXTENSION_create_by_OBJ(nil, object, isCritical ? 1 : 0, value) else { return false }
            defer { X509_EXTENSION_free(own) }
            let isAdded =
                switch part {
                case .response: OCSP_BASICRESP_add_ext(basic, own, -1)
                case .singleResponse: OCSP_SINGLERESP_add_ext(OCSP_resp_get0(basic, 0), own, -1)
                }
            let (signer, flags) = (intermediateIssuer, UInt(OCSP_NOCERTS))
            return isAdded == 1 && OCSP_basic_sign(basic, signer.x509, signer.key, EVP_sha256(), nil, flags) == 1
        }
    }

    private func response(
        about identity: Identity, _ status: Status, validity: Validity, namedBy digest: OpaquePointer?,
        sign: (OpaquePointer) -> Bool
    ) throws(TestingError) -> Data {
        guard let basic = OCSP_BASICRESP_new(), let start = ASN1_TIME_new(), let end = ASN1_TIME_new() else {
            throw TestingError(.cannotMint, "OpenSSL could not allocate an OCSP response.")
        }
        defer {
            OCSP_BASICRESP_free(basic)
            ASN1_TIME_free(start)
            ASN1_TIME_free(end)
        }
        let codes: [Status: Int32] = [
            .good: V_OCSP_CERTSTATUS_GOOD, .revoked: V_OCSP_CERTSTATUS_REVOKED, .unknown: V_OCSP_CERTSTATUS_UNKNOWN,
        ]
        guard let id = OCSP_cert_to_id(digest, identity.leaf.x509, intermediateIssuer.x509) else {
            throw TestingError(.cannotMint, "OpenSSL could not create a certificate identifier.")
        }
        defer { OCSP_CERTID_free(id) }
        guard X509_gmtime_adj(start, Int(validity.notBefore.components.seconds)) != nil,
            X509_gmtime_adj(end, Int(validity.notAfter.components.seconds)) != nil,
            OCSP_basic_add1_status(basic, id, codes[status] ?? 0, 0, start, start, end) != nil,
            sign(basic), let response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic)
        else { throw TestingError(.cannotMint, "OpenSSL could not create an OCSP response.") }
        defer { OCSP_RESPONSE_free(response) }
        return Data(Forge.der { i2d_OCSP_RESPONSE(response, $0) })
    }

    /// Creates an identity that is authorized to sign OCSP responses (RFC 6960, 4.2.2.2).
    ///
    /// - Parameter configure: Changes the default options.
    /// - Throws: ``TestingError`` with ``TestingError/Code/cannotMint``.
    public func responder(_ configure: (inout Options) -> Void = { _ in }) throws(TestingError) -> Identity {
        var options = Options()
        configure(&options)
        var request = CertificateRequest(options)
        request.kind = .responder
        return Identity(try Mint.certificate(request, issuer: intermediateIssuer), issuers: [intermediateIssuer])
    }
}
