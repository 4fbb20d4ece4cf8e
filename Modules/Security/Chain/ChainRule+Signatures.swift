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
    ) { WeakDigest($0.facts.signature) == .md5 ? "is signed over MD5" : nil }

    /// No certificate is signed over SHA-1.
    public static let sha1Signatures = ChainRule(
        "sha1Signatures", "RFC 9155, 4 and 5; Baseline Requirements, 7.1.3.2", "No certificate is signed over SHA-1.",
        .belowAnchor
    ) { WeakDigest($0.facts.signature) == .sha1 ? "is signed over SHA-1" : nil }

    /// A signature's algorithm is one of ``KeyRequirements/signatures``, in its one encoding.
    public static let signatureAlgorithm = ChainRule(
        "signatureAlgorithm", "RFC 5280, 4.1.1.2; RFC 8410, 3; Baseline Requirements, 7.1.3.2",
        "A signature's algorithm is one that the profile accepts, in its one encoding.", .belowAnchor
    ) { link in
        let used = link.facts.signature
        // Those are the two rules' above, which may be allowed.
        if let weak = WeakDigest(used), weak != .unreadable { return nil }
        if link.profile.keys.signatures.contains(where: { $0.encoding == used.bytes }) { return nil }
        guard let known = SignatureAlgorithm.all.first(where: { $0.encoding == used.bytes }) else {
            return "is signed with \(used.identifier), or with parameters of it, which are not accepted"
        }
        return "is signed with \(known), which is not accepted"
    }
}
