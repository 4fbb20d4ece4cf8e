internal import COpenSSL

/// The checks of OpenSSL's security level 2 for single certificates: keys and signatures have at least 112 bits of
/// security.
///
/// OpenSSL has one level for all checks. If a profile allows one kind of weakness, OpenSSL runs at level 0 and this
/// type refuses the other kinds: allowing SHA-1 allows neither P-192 nor 1024-bit DSA.
enum SecurityFloor {
    private static let bits: Int32 = 112

    /// The weakness of a certificate, as the end of a sentence about "the certificate"; nil if there is none.
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
        // The signature of an anchor is not verified.
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

/// Why a signature algorithm proves little: its digest is forgeable or unknown.
enum WeakDigest: Sendable {
    /// MD5 or an older digest (RFC 6151, 2).
    case md5
    case sha1
    /// The digest in the parameters of RSASSA-PSS cannot be read.
    case unreadable

    /// Nil for algorithms with any other digest.
    init?(_ algorithm: CertificateFacts.Algorithm) {
        guard algorithm.identifier == .rsaPSS else {
            guard let weak = Self.named[algorithm.identifier] else { return nil }
            self = weak
            return
        }
        // RSASSA-PSS has its digest in the parameters.
        guard let digest = try? Self.digest(algorithm.parameters) else {
            self = .unreadable
            return
        }
        switch digest {
        case .sha1: self = .sha1
        case .md5: self = .md5
        default: return nil
        }
    }

    /// SHA-1 is the default (RFC 4055, 3.1).
    private static func digest(_ parameters: [UInt8]?) throws(DERError) -> ObjectIdentifier {
        guard let parameters else { return .sha1 }
        let der = DER(bytes: parameters)
        var cursor = der.cursor(try der.root(DER.Tag.sequence))
        guard let hash = try cursor.optional(DER.Tag.context(0, constructed: true)) else { return .sha1 }
        return try CertificateFacts.algorithm(der, der.cursor(hash).only(DER.Tag.sequence)).identifier
    }

    private static let named: [ObjectIdentifier: WeakDigest] = [
        pkcs1(2): .md5, pkcs1(3): .md5, pkcs1(4): .md5, pkcs1(5): .sha1,
        ObjectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01]): .sha1,
        ObjectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x03]): .sha1,
        ObjectIdentifier([0x2B, 0x0E, 0x03, 0x02, 0x1D]): .sha1,
    ]

    private static func pkcs1(_ number: UInt8) -> ObjectIdentifier {
        ObjectIdentifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, number])
    }
}
