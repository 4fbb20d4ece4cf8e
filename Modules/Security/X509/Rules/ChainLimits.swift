internal import FoundationEssentials

/// Limits on presented chains under every profile. A chain that exceeds one is refused before work is done on it.
///
/// They bound the evaluation of a chain to a few milliseconds: bytes bound parsing, keys and depth bound signatures,
/// and the product of names and constraints bounds name checks.
enum ChainLimits {
    static let certificates = 32
    static let bytes = 256 * 1024
    /// Authorities between the leaf and the anchor. Public chains have at most three.
    static let depth: Int32 = 10
    static let extensions = 64
    /// The size of a SubjectPublicKeyInfo.
    static let keyBytes = 4096
    static let rsaBits = 8192
    static let rsaExponentBits = 256
    /// Alternative names and subject attributes of one certificate. Public authorities allow some hundreds.
    static let names = 4100
    /// Name constraints in one certificate.
    static let subtrees = 1024
    /// Names times constraints over the whole chain. OpenSSL's limit is a million for each authority.
    static let nameComparisons = 100_000
    /// Policy mappings over the whole chain. Each level can multiply the policies of the one above.
    static let policyMappings = 16

    /// Issuers examined in the search for paths other than OpenSSL's.
    static let pathSteps = 256
    /// Other paths that OpenSSL is asked to verify.
    static let paths = 8
    /// Paths with expired or future certificates that OpenSSL verifies only for the sake of the message.
    static let pathsOutOfTime = 2

    /// The limit that a certificate exceeds, as the end of a sentence; nil if none.
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
        if facts.subtrees > subtrees {
            return "has more than \(subtrees) name constraints"
        }
        return nil
    }

    /// The limit that the presented certificates exceed together; nil if none.
    static func excess(_ chain: [CertificateFacts]) -> String? {
        let names = chain.reduce(0) { $0 + $1.names + 1 }
        let subtrees = chain.reduce(0) { $0 + $1.subtrees }
        if names * subtrees > nameComparisons { return "too many name constraints for so many names" }
        let mappings = chain.reduce(0) { $0 + $1.policyMappings }
        return mappings > policyMappings ? "more than \(policyMappings) policy mappings" : nil
    }
}

extension CertificateFacts {
    /// The number of names that name constraints are compared with.
    fileprivate var names: Int {
        elements(known.alternativeNames?.count, of: .subjectAlternativeName, octets: 2) + subjectAttributes
    }

    fileprivate var subtrees: Int { elements(known.nameConstraints?.subtrees, of: .nameConstraints, octets: 4) }

    fileprivate var policyMappings: Int { elements(known.policyMappings, of: .policyMappings, octets: 8) }

    /// The number of elements in an extension. If the extension cannot be read, OpenSSL may still read it, and the
    /// number is the most that its octets can hold.
    ///
    /// - Parameter octets: The octets of the shortest element.
    private func elements(_ count: Int?, of identifier: ObjectIdentifier, octets: Int) -> Int {
        count ?? (first(identifier)?.value.count ?? 0) / octets
    }
}
