extension ChainRule {
    static let extensions: [ChainRule] = [
        .duplicateExtension, .malformedExtension, .unprocessedCriticalExtension, .extensionMustNotBeCritical,
        .extensionShouldNotBeCritical, .basicConstraintsNotCritical, .keyUsageNotCritical, .nameConstraintsNotCritical,
        .policyConstraintsNotCritical,
        .missingAuthorityKeyIdentifier, .missingSubjectKeyIdentifier, .nameConstraintsInLeaf,
    ]

    /// No extension comes twice.
    public static let duplicateExtension = ChainRule(
        "duplicateExtension", "RFC 5280, 4.2", "A certificate has no extension twice.", at: .belowAnchor
    ) { link in
        var seen: Set<ObjectIdentifier> = []
        let twice = link.facts.extensions.first { !seen.insert($0.identifier).inserted }
        return twice.map { "has the extension \($0.identifier) twice" }
    }

    /// The extensions of RFC 5280 are valid DER with the defined contents. In an issuing anchor, extensions that limit
    /// its certificates must be valid under every profile.
    public static let malformedExtension = ChainRule(
        "malformedExtension", "RFC 5280, 4.2.1 and 4.2.2; Baseline Requirements, 7.1.2.11.5",
        "Extensions have the form that is defined for them.", at: .belowAnchor
    ) { $0.facts.known.malformed.first.map { malformation($0) } }

    /// The violation of ``malformedExtension`` by an anchor: an extension that limits its certificates is not DER, and
    /// OpenSSL, which enforces it, may read it differently.
    static func unreadableLimit(ofAnchor facts: CertificateFacts) -> String? {
        let limits: Set<ObjectIdentifier> = [
            .basicConstraints, .keyUsage, .extendedKeyUsage, .policyConstraints, .inhibitAnyPolicy,
        ]
        return facts.known.malformed.first { limits.contains($0) }.map { malformation($0) }
    }

    private static func malformation(_ identifier: ObjectIdentifier) -> String {
        let section = KnownExtensions.section(identifier).map { " by \($0)" } ?? ""
        return "has the extension \(identifier), which is not DER in the form that is defined\(section)"
    }

    /// Critical extensions can be processed.
    public static let unprocessedCriticalExtension = ChainRule(
        "unprocessedCriticalExtension", "RFC 5280, 4.2", "A critical extension that is not processed is refused.",
        at: .belowAnchor
    ) { link in
        let unknown = link.facts.extensions.first { $0.isCritical && !processed.contains($0.identifier) }
        return unknown.map { "has the critical extension \($0.identifier), which is not processed" }
    }

    /// The extensions that OpenSSL or a rule processes. ``extensionMustNotBeCritical`` and
    /// ``extensionShouldNotBeCritical`` cover extensions that must not be critical.
    static let processed: Set<ObjectIdentifier> = neverCritical.union(betterNotCritical).union([
        .basicConstraints, .keyUsage, .subjectAlternativeName, .nameConstraints, .certificatePolicies, .policyMappings,
        .policyConstraints, .inhibitAnyPolicy, .tlsFeature, .netscapeType,
    ])

    /// Key identifiers and references to further information are not critical.
    public static let extensionMustNotBeCritical = notCritical(
        "extensionMustNotBeCritical", "RFC 5280, 4.2.1.1, 4.2.1.2, 4.2.1.8, 4.2.1.15, 4.2.2.1 and 4.2.2.2",
        "Key identifiers, attributes of the subject, access descriptions and freshest lists are not critical.",
        of: neverCritical)

    /// Distribution points, purposes and signed timestamps are not critical.
    public static let extensionShouldNotBeCritical = notCritical(
        "extensionShouldNotBeCritical",
        "Baseline Requirements, 7.1.2.7.6 and 7.1.2.11.2; RFC 5280, 4.2.1.13 (SHOULD)",
        "Distribution points, purposes and signed timestamps are not critical.", of: betterNotCritical,
        scope: .webAuthority)

    private static let neverCritical: Set<ObjectIdentifier> = [
        .authorityKeyIdentifier, .subjectKeyIdentifier, .subjectDirectoryAttributes, .authorityInformationAccess,
        .subjectInformationAccess, .freshestList,
    ]

    private static let betterNotCritical: Set<ObjectIdentifier> = [
        .distributionPoints, .extendedKeyUsage, .signedTimestamps,
    ]

    private static func notCritical(
        _ name: String, _ citation: String, _ requirement: String, of identifiers: Set<ObjectIdentifier>,
        scope: Scope = .anyAuthority
    ) -> ChainRule {
        ChainRule(name, citation, requirement, at: .belowAnchor, scope: scope) { link in
            let wrong = link.facts.extensions.first { $0.isCritical && identifiers.contains($0.identifier) }
            return wrong.map { "has the extension \($0.identifier) as critical" }
        }
    }

    /// An authority's basic constraints are critical.
    public static let basicConstraintsNotCritical = critical(
        "basicConstraintsNotCritical", "RFC 5280, 4.2.1.9", "An authority's basic constraints are critical.",
        of: [.basicConstraints])

    /// An authority's key usage is critical.
    public static let keyUsageNotCritical = critical(
        "keyUsageNotCritical",
        "Baseline Requirements, 7.1.2.2.3, 7.1.2.5.1 and 7.1.2.6.1; RFC 5280, 4.2.1.3 (SHOULD)",
        "An authority's key usage is critical.", of: [.keyUsage], scope: .webAuthority)

    /// Name constraints are critical. Neither profile enforces this: the Baseline Requirements allow them not to be
    /// critical (7.1.2.10.8), and they are processed either way.
    public static let nameConstraintsNotCritical = critical(
        "nameConstraintsNotCritical", "RFC 5280, 4.2.1.10", "Name constraints are critical.", of: [.nameConstraints],
        scope: .none)

    /// Policy constraints and "inhibit anyPolicy" are critical.
    public static let policyConstraintsNotCritical = critical(
        "policyConstraintsNotCritical", "RFC 5280, 4.2.1.11 and 4.2.1.14", "Constraints on policies are critical.",
        of: [.policyConstraints, .inhibitAnyPolicy])

    /// A certificate identifies the key of its issuer that signed it.
    public static let missingAuthorityKeyIdentifier = ChainRule(
        "missingAuthorityKeyIdentifier", "RFC 5280, 4.2.1.1; Baseline Requirements, 7.1.2.11.1",
        "A certificate says which of its issuer's keys signed it.", at: .belowAnchor
    ) { $0.facts.known.hasAuthorityKeyIdentifier ? nil : "has no authority key identifier" }

    /// An authority's certificate identifies its own key.
    public static let missingSubjectKeyIdentifier = ChainRule(
        "missingSubjectKeyIdentifier", "RFC 5280, 4.2.1.2", "An authority says which key is its own.", at: .intermediate
    ) { $0.facts.known.hasSubjectKeyIdentifier ? nil : "has no subject key identifier" }

    /// Only authorities constrain names.
    public static let nameConstraintsInLeaf = ChainRule(
        "nameConstraintsInLeaf", "RFC 5280, 4.2.1.10; Baseline Requirements, 7.1.2.7.6",
        "Only an authority has name constraints.", at: .leaf
    ) { $0.facts.first(.nameConstraints) == nil ? nil : "has name constraints, and is no authority" }

    private static func critical(
        _ name: String, _ citation: String, _ requirement: String, of identifiers: Set<ObjectIdentifier>,
        scope: Scope = .anyAuthority
    ) -> ChainRule {
        ChainRule(name, citation, requirement, at: .intermediate, scope: scope) { link in
            let wrong = link.facts.extensions.first { !$0.isCritical && identifiers.contains($0.identifier) }
            return wrong.map { "has the extension \($0.identifier) as not critical" }
        }
    }
}

extension ChainRule {
    static let usage: [ChainRule] = [
        .missingBasicConstraints, .pathLengthWithoutAuthority, .leafIsAuthority, .missingKeyUsage, .emptyKeyUsage,
        .certificateSigningWithoutAuthority, .leafKeyUsage, .missingExtendedKeyUsage, .missingServerAuthentication,
        .anyExtendedKeyUsage, .mixedExtendedKeyUsage,
    ]

    /// An authority's basic constraints mark it as an authority.
    public static let missingBasicConstraints = ChainRule(
        "missingBasicConstraints", "RFC 5280, 4.2.1.9 and 6.1.4 (k)", "An authority says that it is one.",
        at: .intermediate
    ) { link in
        link.facts.known.basicConstraints?.isAuthority == true
            ? nil : "issues, and does not say that it is an authority"
    }

    /// Only an authority has a path length constraint.
    public static let pathLengthWithoutAuthority = ChainRule(
        "pathLengthWithoutAuthority", "RFC 5280, 4.2.1.9; Baseline Requirements, 7.1.2.7.8",
        "Only an authority that signs certificates limits the length of a path.", at: .belowAnchor
    ) { link in
        guard let basic = link.facts.known.basicConstraints, basic.pathLength != nil else { return nil }
        let signs = link.facts.known.keyUsage?.contains(.certificateSigning) ?? true
        return basic.isAuthority && signs ? nil : "limits the length of a path, and is no authority"
    }

    /// A server's certificate is not an authority's certificate.
    public static let leafIsAuthority = ChainRule(
        "leafIsAuthority", "Baseline Requirements, 7.1.2.7.8", "A server's certificate is not an authority's.",
        at: .leaf,
        scope: .webAuthority
    ) { $0.facts.known.basicConstraints?.isAuthority == true ? "is an authority's, and a server shows it" : nil }

    /// An authority has a key usage.
    public static let missingKeyUsage = ChainRule(
        "missingKeyUsage", "RFC 5280, 4.2.1.3", "An authority says what its key is for.", at: .intermediate
    ) { $0.facts.first(.keyUsage) == nil ? "issues, and does not say what its key is for" : nil }

    /// A key usage is not empty.
    public static let emptyKeyUsage = ChainRule(
        "emptyKeyUsage", "RFC 5280, 4.2.1.3", "A key usage has one bit at least.", at: .belowAnchor
    ) { $0.facts.known.keyUsage?.rawValue == 0 ? "says that its key is for nothing" : nil }

    /// Only an authority's key signs certificates.
    public static let certificateSigningWithoutAuthority = ChainRule(
        "certificateSigningWithoutAuthority", "RFC 5280, 4.2.1.3 and 4.2.1.9",
        "Only an authority's key signs certificates.", at: .belowAnchor
    ) { link in
        let known = link.facts.known
        guard known.keyUsage?.contains(.certificateSigning) == true else { return nil }
        return known.basicConstraints?.isAuthority == true ? nil : "may sign certificates, and is no authority"
    }

    /// A server's key may sign handshakes, the only use in the offered cipher suites.
    public static let leafKeyUsage = ChainRule(
        "leafKeyUsage", "RFC 8446, 4.4.2.2; RFC 8422, 5.3; Baseline Requirements, 7.1.2.7.11",
        "A server's key may be used for signatures, where its use is stated.", at: .leaf
    ) { link in
        guard let usage = link.facts.known.keyUsage else { return nil }
        return usage.contains(.digitalSignature) ? nil : "has a key that must not sign a handshake"
    }

    /// A server's certificate has an extended key usage.
    public static let missingExtendedKeyUsage = ChainRule(
        "missingExtendedKeyUsage", "Baseline Requirements, 7.1.2.7.10", "A server's certificate names its purposes.",
        at: .leaf, scope: .webAuthority
    ) { $0.facts.first(.extendedKeyUsage) == nil ? "does not say that it is for servers" : nil }

    /// An extended key usage of a server's certificate or of its issuers includes serverAuth.
    public static let missingServerAuthentication = ChainRule(
        "missingServerAuthentication", "RFC 5280, 4.2.1.12; Baseline Requirements, 7.1.2.7.10 and 7.1.2.10.6",
        "Where a certificate names purposes, the purpose serverAuth is one, or any.", at: .belowAnchor
    ) { link in
        guard let purposes = link.facts.known.extendedKeyUsage else { return nil }
        let fits = purposes.contains(.serverAuthentication) || purposes.contains(.anyExtendedKeyUsage)
        return fits ? nil : "is not for servers"
    }

    /// A server's certificate does not have the purpose anyExtendedKeyUsage.
    public static let anyExtendedKeyUsage = ChainRule(
        "anyExtendedKeyUsage", "Baseline Requirements, 7.1.2.7.10",
        "A server's certificate does not name the purpose anyExtendedKeyUsage.", at: .leaf,
        scope: .webAuthority
    ) { link in
        link.facts.known.extendedKeyUsage?.contains(.anyExtendedKeyUsage) == true ? "is for any purpose" : nil
    }

    /// A server's certificate is not also for code signing, mail, time stamps or OCSP signing.
    public static let mixedExtendedKeyUsage = ChainRule(
        "mixedExtendedKeyUsage", "Baseline Requirements, 7.1.2.7.10",
        "A server's certificate does not sign code, mail, time stamps or OCSP responses.", at: .leaf,
        scope: .webAuthority
    ) { link in
        let foreign: [ObjectIdentifier] = [.codeSigning, .emailProtection, .timeStamping, .ocspSigning]
        let purpose = link.facts.known.extendedKeyUsage?.first { foreign.contains($0) }
        return purpose.map { "is for servers and for \($0) as well" }
    }
}
