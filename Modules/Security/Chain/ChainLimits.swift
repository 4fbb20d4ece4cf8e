internal import FoundationEssentials

/// More than any honest server sends; whoever sends more is refused before work is done on it, under every profile.
///
/// With these, no chain takes longer than some milliseconds: parsing is bound by the bytes, signatures by keys and depth,
/// names by their number times that of the constraints.
enum ChainLimits {
    static let certificates = 32
    static let bytes = 256 * 1024
    /// Authorities between the leaf and the anchor. Public chains have three at most.
    static let depth: Int32 = 10
    static let extensions = 64
    /// A whole SubjectPublicKeyInfo.
    static let keyBytes = 4096
    static let rsaBits = 8192
    static let rsaExponentBits = 256
    /// Alternative names, and attributes of the subject, in one certificate. Public authorities stop at some hundreds.
    static let names = 4100
    /// Name constraints in one certificate.
    static let subtrees = 1024
    /// Names times constraints, over the whole chain; OpenSSL would go on to a million for each authority.
    static let nameComparisons = 100_000
    /// Over the whole chain, as each level can multiply the policies of the one above.
    static let policyMappings = 16

    /// Issuers that are looked at for other paths than OpenSSL's.
    static let pathSteps = 256
    /// Other paths that OpenSSL is asked to verify.
    static let paths = 8

    /// What is too much about one certificate; nil when nothing is.
    static func excess(_ facts: CertificateFacts) -> String? {
        let key = facts.key
        if facts.extensions.count > extensions { return "has more than \(extensions) extensions" }
        if key.byteCount > keyBytes { return "has a key of more than \(keyBytes) bytes" }
        if let rsa = key.rsa {
            if rsa.modulusBits > rsaBits { return "has an RSA key of more than \(rsaBits) bits" }
            if rsa.exponentBits > rsaExponentBits {
                return "has an RSA key with an exponent of more than \(rsaExponentBits) bits"
            }
        }
        if facts.names > names { return "has more than \(names) names" }
        if (facts.known.nameConstraints?.subtrees ?? 0) > subtrees {
            return "has more than \(subtrees) name constraints"
        }
        return nil
    }

    /// What is too much about all that were presented; nil when nothing is.
    static func excess(_ chain: [CertificateFacts]) -> String? {
        let names = chain.reduce(0) { $0 + $1.names + 1 }
        let subtrees = chain.reduce(0) { $0 + ($1.known.nameConstraints?.subtrees ?? 0) }
        if names * subtrees > nameComparisons { return "too many name constraints for so many names" }
        let mappings = chain.reduce(0) { $0 + $1.known.policyMappings }
        return mappings > policyMappings ? "more than \(policyMappings) policy mappings" : nil
    }
}

extension CertificateFacts {
    /// What name constraints are compared with.
    fileprivate var names: Int { (known.alternativeNames?.count ?? 0) + subjectAttributes }
}
