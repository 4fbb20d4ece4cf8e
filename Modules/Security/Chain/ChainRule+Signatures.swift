extension ChainRule {
    static let signatures: [ChainRule] = [
        .signatureAlgorithmMismatch, .md5Signatures, .sha1Signatures, .signatureAlgorithm,
    ]

    /// The signature's algorithm is the one that was signed.
    public static let signatureAlgorithmMismatch = ChainRule(
        "signatureAlgorithmMismatch", "RFC 5280, 4.1.1.2; Baseline Requirements, 7.1.2.7",
        "The algorithm beside the signature is the one that was signed.", .belowAnchor
    ) { link in
        link.facts.signature.bytes == link.facts.outerSignature.bytes
            ? nil : "names another signature algorithm than the one that was signed"
    }

    /// No certificate is signed over MD5, or a digest that is older.
    public static let md5Signatures = ChainRule(
        "md5Signatures", "RFC 6151, 2; Baseline Requirements, 7.1.3.2", "No certificate is signed over MD5.",
        .belowAnchor
    ) { WeakDigest.md5.contains($0.facts.signature.identifier) ? "is signed over MD5" : nil }

    /// No certificate is signed over SHA-1.
    public static let sha1Signatures = ChainRule(
        "sha1Signatures", "Baseline Requirements, 7.1.3.2; RFC 9155", "No certificate is signed over SHA-1.",
        .belowAnchor
    ) { WeakDigest.sha1.contains($0.facts.signature.identifier) ? "is signed over SHA-1" : nil }

    /// A signature's algorithm is one of ``KeyRequirements/signatures``, in its one encoding.
    public static let signatureAlgorithm = ChainRule(
        "signatureAlgorithm", "Baseline Requirements, 7.1.3.2; RFC 8410, 3",
        "A signature's algorithm is one that the profile accepts, in its one encoding.", .belowAnchor
    ) { link in
        let used = link.facts.signature
        // Those are the two rules' above, which may be allowed.
        guard !WeakDigest.md5.union(WeakDigest.sha1).contains(used.identifier) else { return nil }
        if link.profile.keys.signatures.contains(where: { $0.encoding == used.bytes }) { return nil }
        guard let known = SignatureAlgorithm.all.first(where: { $0.encoding == used.bytes }) else {
            return "is signed with \(used.identifier), or with parameters of it, which are not accepted"
        }
        return "is signed with \(known), which is not accepted"
    }
}

/// Signature algorithms over digests that can be forged.
enum WeakDigest {
    static let md5: Set<ObjectIdentifier> = Set([2, 3, 4].map { pkcs1($0) })
    static let sha1: Set<ObjectIdentifier> = [
        pkcs1(5),
        ObjectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01]),
        ObjectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x03]),
        ObjectIdentifier([0x2B, 0x0E, 0x03, 0x02, 0x1D]),
    ]

    private static func pkcs1(_ number: UInt8) -> ObjectIdentifier {
        ObjectIdentifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, number])
    }
}
