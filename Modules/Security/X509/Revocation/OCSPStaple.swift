internal import COpenSSL
internal import FoundationEssentials

/// Checks a stapled OCSP response (RFC 6960) with bounded work.
struct OCSPStaple {
    /// A response for one certificate with the responder's certificate has two or three kilobytes.
    static let maximumBytes = 64 * 1024
    static let maximumAnswers = 64

    let allowsSHA1: Bool
    let time: Date
    let skew: Duration

    /// The status of a certificate.
    func answer(_ der: Data, about leaf: X509Handle, _ issuer: X509Handle) -> RevocationCheck.Answer {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        guard der.count <= Self.maximumBytes, let response = Self.parse(der) else {
            return invalid("the stapled response cannot be read")
        }
        defer { OCSP_RESPONSE_free(response) }
        let status = OCSP_response_status(response)
        guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL, let basic = OCSP_response_get1_basic(response) else {
            return invalid("the responder had no answer (status \(status), RFC 6960, 4.2.1)")
        }
        defer { OCSP_BASICRESP_free(basic) }
        if let flaw = signatureFlaw(basic, issuer) { return invalid(flaw) }
        return find(leaf, issuer, in: basic)
    }

    private func invalid(_ text: String) -> RevocationCheck.Answer { .unknown(.stapleInvalid, text) }

    private static func parse(_ der: Data) -> OpaquePointer? {
        der.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return nil }
            var position: UnsafePointer<UInt8>? = base
            guard let response = d2i_OCSP_RESPONSE(nil, &position, bytes.count) else { return nil }
            guard position == base + bytes.count else {
                OCSP_RESPONSE_free(response)
                return nil
            }
            return response
        }
    }

    // MARK: Signature

    /// The reason why the signature is not by the issuer or a responder that it authorized; nil if it is valid.
    private func signatureFlaw(_ basic: OpaquePointer, _ issuer: X509Handle) -> String? {
        guard !isWeak(basic) else { return "the stapled response is signed with SHA-1 or MD5" }
        guard let authorities = linnet_sk_X509_new_null() else { return "there is not enough memory" }
        defer { linnet_sk_X509_free(authorities) }
        guard linnet_sk_X509_push(authorities, issuer.pointer) > 0 else { return "there is not enough memory" }
        var pointer: OpaquePointer?
        guard OCSP_resp_get0_signer(basic, &pointer, authorities) == 1, let pointer else {
            return "the stapled response does not contain the certificate of its responder"
        }
        if pointer != issuer.pointer, let flaw = responderFlaw(X509Handle(sharing: pointer), issuer) { return flaw }
        // OpenSSL verifies the signature alone, since the responder has been checked with bounded work.
        guard OCSP_basic_verify(basic, authorities, nil, UInt(OCSP_NOVERIFY)) == 1 else {
            return "the signature of the stapled response is invalid"
        }
        return nil
    }

    /// Why a responder is not authorized by the issuer (RFC 6960, 4.2.2.2); nil if it is. The responder's own
    /// revocation is not checked, which 4.2.2.2.1 leaves to the client: it would require another response.
    private func responderFlaw(_ responder: X509Handle, _ issuer: X509Handle) -> String? {
        guard let facts = responder.facts, ChainLimits.excess(facts) == nil else {
            return "the responder's certificate cannot be read"
        }
        guard facts.known.extendedKeyUsage?.contains(.ocspSigning) == true else {
            return "the responder's certificate is not for OCSP (RFC 6960, 4.2.2.2)"
        }
        guard facts.known.keyUsage?.contains(.digitalSignature) ?? true else {
            return "the responder's key is not for signatures"
        }
        guard isStrong(facts.signature) else {
            return "the responder's certificate is signed with SHA-1 or MD5"
        }
        let link = ChainLink(facts: facts, position: .leaf, profile: .default)
        guard !ChainRule.keys.contains(where: { link.profile.rules.contains($0) && $0.check(link) != nil }) else {
            return "the responder's key is too weak"
        }
        guard responder.validity(at: time) == .valid else {
            return "the responder's certificate is expired or not yet valid"
        }
        guard X509_check_issued(issuer.pointer, responder.pointer) == X509_V_OK,
            let key = X509_get0_pubkey(issuer.pointer), X509_verify(responder.pointer, key) == 1
        else { return "the responder is not authorized by the issuer (RFC 6960, 4.2.2.2)" }
        return nil
    }

    /// True also if OpenSSL does not know the algorithm.
    private func isWeak(_ basic: OpaquePointer) -> Bool {
        guard let pointer = OCSP_resp_get0_tbs_sigalg(basic) else { return true }
        var object: OpaquePointer?
        X509_ALGOR_get0(&object, nil, nil, pointer)
        let der = DER(bytes: [UInt8](OpenSSLBytes.written { i2d_X509_ALGOR(pointer, $0) }))
        guard OBJ_find_sigid_algs(OBJ_obj2nid(object), nil, nil) == 1, let root = try? der.root(DER.Tag.sequence),
            let algorithm = try? CertificateFacts.algorithm(der, root)
        else { return true }
        return !isStrong(algorithm)
    }

    private func isStrong(_ algorithm: CertificateFacts.Algorithm) -> Bool {
        switch WeakDigest(algorithm) {
        case nil: true
        case .sha1: allowsSHA1
        case .md5, .unreadable: false
        }
    }

    // MARK: Status

    private func find(_ leaf: X509Handle, _ issuer: X509Handle, in basic: OpaquePointer) -> RevocationCheck.Answer {
        let count = OCSP_resp_count(basic)
        guard count <= Self.maximumAnswers else { return invalid("the stapled response has too many answers") }
        // No extension of a response is processed, so none may be critical (RFC 6960, 4.4).
        let isUnderstood = OCSP_BASICRESP_get_ext_by_critical(basic, 1, -1) < 0
        let answers = (0..<max(0, count)).compactMap { index -> RevocationCheck.Answer? in
            guard let single = OCSP_resp_get0(basic, index), Self.matches(single, leaf, issuer) else { return nil }
            return read(single, isUnderstood: isUnderstood)
        }
        // If there are several answers for the certificate, a revocation takes precedence.
        let revoked = answers.first { if case .revoked = $0 { true } else { false } }
        let good = answers.first { if case .good = $0 { true } else { false } }
        return revoked ?? good ?? answers.first ?? invalid("the stapled response is for other certificates")
    }

    /// Whether an answer is for this certificate, whichever digest identifies the issuer.
    private static func matches(_ single: OpaquePointer, _ leaf: X509Handle, _ issuer: X509Handle) -> Bool {
        guard let id = OCSP_SINGLERESP_get0_id(single) else { return false }
        var object: OpaquePointer?
        guard OCSP_id_get0_info(nil, &object, nil, nil, id) == 1, let digest = digest(OBJ_obj2nid(object)),
            let own = OCSP_cert_to_id(digest, leaf.pointer, issuer.pointer)
        else { return false }
        defer { OCSP_CERTID_free(own) }
        return OCSP_id_cmp(own, id) == 0
    }

    private static func digest(_ identifier: Int32) -> OpaquePointer? {
        switch identifier {
        // SHA-1 identifies a certificate here; it is not a signature.
        case NID_sha1: EVP_sha1()
        case NID_sha256: EVP_sha256()
        case NID_sha384: EVP_sha384()
        case NID_sha512: EVP_sha512()
        default: nil
        }
    }

    /// A revocation counts whichever extensions come with it: it is signed, and the others could only explain it.
    private func read(_ single: OpaquePointer, isUnderstood: Bool) -> RevocationCheck.Answer {
        var reason: Int32 = 0
        var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let status = OCSP_single_get0_status(single, &reason, &revoked, &this, &next)
        if status == V_OCSP_CERTSTATUS_REVOKED {
            let date = OpenSSLTime.date(revoked).map { " on " + $0.formatted(.iso8601) } ?? ""
            return .revoked("the stapled response says so\(date)")
        }
        guard isUnderstood, OCSP_SINGLERESP_get_ext_by_critical(single, 1, -1) < 0 else {
            return invalid("the stapled response has a critical extension that is not processed (RFC 6960, 4.4)")
        }
        guard let start = OpenSSLTime.date(this), let end = OpenSSLTime.date(next), start <= end else {
            return invalid("the stapled response has no validity period (RFC 6960, 4.2.2.1)")
        }
        let margin = TimeInterval(skew.components.seconds)
        guard start <= time.addingTimeInterval(margin) else {
            return .unknown(.stapleOutdated, "the stapled response is not yet valid; check the clock")
        }
        guard end >= time.addingTimeInterval(-margin) else {
            return .unknown(.stapleOutdated, "the stapled response expired on \(end.formatted(.iso8601))")
        }
        guard status == V_OCSP_CERTSTATUS_GOOD else {
            return .unknown(.revocationUnknown, "the responder does not know it (RFC 6960, 2.2)")
        }
        return .good(until: end.addingTimeInterval(margin))
    }
}
