internal import COpenSSL

/// What OpenSSL's security level 2 refuses, one certificate at a time: keys and signatures of less than 112 bits.
///
/// OpenSSL knows one level for all. Where a profile allows one kind of weakness, it is asked at level 0, and this refuses
/// the other kinds: an exception for SHA-1 lets neither P-192 nor DSA of 1024 bits in.
enum SecurityFloor {
    private static let bits: Int32 = 112

    /// What is too weak about a certificate of a chain, in words that go on after "the certificate"; nil when nothing is.
    static func weakness(
        _ certificate: X509Handle, at position: ChainLink.Position, _ rules: Set<ChainRule>
    ) -> String? {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        let key = X509_get0_pubkey(certificate.pointer)
        let keyBits = key.map { EVP_PKEY_get_security_bits($0) } ?? 0
        let isRSA = key.map { [EVP_PKEY_RSA, EVP_PKEY_RSA_PSS].contains(EVP_PKEY_get_base_id($0)) } ?? false
        guard keyBits >= bits || isRSA && !rules.contains(.rsaKeySize) else {
            return "has a key of \(max(keyBits, 0)) bits of security, less than \(bits)"
        }
        // An anchor's own signature proves nothing.
        guard ChainLink.Position.belowAnchor.contains(position) else { return nil }
        var signatureBits: Int32 = 0
        let isKnown = X509_get_signature_info(certificate.pointer, nil, nil, &signatureBits, nil) == 1
        guard !isKnown || signatureBits < bits else { return nil }
        switch certificate.facts.flatMap({ WeakDigest($0.signature) }) {
        case .sha1 where !rules.contains(.sha1Signatures), .md5 where !rules.contains(.md5Signatures): return nil
        default: return "has a signature of \(max(signatureBits, 0)) bits of security, less than \(bits)"
        }
    }
}
