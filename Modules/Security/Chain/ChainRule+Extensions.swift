extension ChainRule {
    static let extensions: [ChainRule] = [
        .duplicateExtension, .malformedExtension, .unprocessedCriticalExtension, .extensionMustNotBeCritical,
        .extensionShouldNotBeCritical, .basicConstraintsNotCritical, .keyUsageNotCritical, .nameConstraintsNotCritical,
        .policyConstraintsNotCritical,
        .missingAuthorityKeyIdentifier, .missingSubjectKeyIdentifier, .nameConstraintsInLeaf,
    ]

    /// No extension comes twice.
    public static let duplicateExtension = ChainRule(
        "duplicateExtension", "RFC 5280, 4.2", "A certificate has no extension twice.", .belowAnchor
    ) { link in
        var seen: Set<ObjectIdentifier> = []
        let twice = link.facts.extensions.first { !seen.insert($0.identifier).inserted }
        return twice.map { "has the extension \($0.identifier) twice" }
    }

    /// The extensions that RFC 5280 defines are as it defines them.
    public static let malformedExtension = ChainRule(
        "malformedExtension", "RFC 5280, 4.2.1 and 4.2.2; Baseline Requirements, 7.1.2.11.5",
        "Extensions have the form that is defined for them.", .belowAnchor
    ) { link in link.facts.known.malformed.first.map { "has the extension \($0), which cannot be read" } }

    /// What is critical can be processed.
    public static let unprocessedCriticalExtension = ChainRule(
        "unprocessedCriticalExtension", "RFC 5280, 4.2", "A critical extension that is not processed is refused.",
        .belowAnchor
    ) { link in
        let unknown = link.facts.extensions.first { $0.isCritical && !processed.contains($0.identifier) }
        return unknown.map { "has the critical extension \($0.identifier), which is not processed" }
    }

    /// What OpenSSL or a rule looks at; of those that must not be critical, the next rule tells.
    static let processed: Set<ObjectIdentifier> = neverCritical.union(betterNotCritical).union([
        .basicConstraints, .keyUsage, .subjectAlternativeName, .nameConstraints, .certificatePolicies, .policyMappings,
        .policyConstraints, .inhibitAnyPolicy, .tlsFeature, .netscapeType,
    ])

    /// Key identifiers and where to find more are hints, and not critical.
    public static let extensionMustNotBeCritical = notCritical(
        "extensionMustNotBeCritical", "RFC 5280, 4.2.1.1, 4.2.1.2, 4.2.1.8, 4.2.1.15, 4.2.2.1 and 4.2.2.2",
        "Key identifiers, attributes of the subject, access descriptions and freshest lists are not critical.",
        neverCritical)

    /// Distribution points, purposes and signed timestamps are not critical.
    public static let extensionShouldNotBeCritical = notCritical(
        "extensionShouldNotBeCritical",
        "Baseline Requirements, 7.1.2.7.6 and 7.1.2.11.2; RFC 5280, 4.2.1.13 (SHOULD)",
        "Distribution points, purposes and signed timestamps are not critical.", betterNotCritical,
        scope: .webAuthority)

    private static let neverCritical: Set<ObjectIdentifier> = [
        .authorityKeyIdentifier, .subjectKeyIdentifier, .subjectDirectoryAttributes, .authorityInformationAccess,
        .subjectInformationAccess, .freshestList,
    ]

    private static let betterNotCritical: Set<ObjectIdentifier> = [
        .distributionPoints, .extendedKeyUsage, .signedTimestamps,
    ]

    private static func notCritical(
        _ name: String, _ citation: String, _ requirement: String, _ identifiers: Set<ObjectIdentifier>,
        scope: Scope = .anyAuthority
    ) -> ChainRule {
        ChainRule(name, citation, requirement, .belowAnchor, scope: scope) { link in
            let wrong = link.facts.extensions.first { $0.isCritical && identifiers.contains($0.identifier) }
            return wrong.map { "has the extension \($0.identifier) as critical" }
        }
    }

    /// An authority's basic constraints are critical.
    public static let basicConstraintsNotCritical = critical(
        "basicConstraintsNotCritical", "RFC 5280, 4.2.1.9", "An authority's basic constraints are critical.",
        [.basicConstraints])

    /// An authority's key usage is critical.
    public static let keyUsageNotCritical = critical(
        "keyUsageNotCritical", "Baseline Requirements, 7.1.2.10.7; RFC 5280, 4.2.1.3 (SHOULD)",
        "An authority's key usage is critical.", [.keyUsage], scope: .webAuthority)

    /// Name constraints are critical. Neither profile has it: the Baseline Requirements allow them not to be (7.1.2.10.8),
    /// and they are processed either way.
    public static let nameConstraintsNotCritical = critical(
        "nameConstraintsNotCritical", "RFC 5280, 4.2.1.10", "Name constraints are critical.", [.nameConstraints],
        scope: .none)

    /// Policy constraints and "inhibit anyPolicy" are critical.
    public static let policyConstraintsNotCritical = critical(
        "policyConstraintsNotCritical", "RFC 5280, 4.2.1.11 and 4.2.1.14", "Constraints on policies are critical.",
        [.policyConstraints, .inhibitAnyPolicy])

    /// A certificate says which of its issuer's keys signed it.
    public static let missingAuthorityKeyIdentifier = ChainRule(
        "missingAuthorityKeyIdentifier", "RFC 5280, 4.2.1.1; Baseline Requirements, 7.1.2.11.1",
        "A certificate says which of its issuer's keys signed it.", .belowAnchor
    ) { $0.facts.known.hasAuthorityKeyIdentifier ? nil : "has no authority key identifier" }

    /// An authority says which key is its own.
    public static let missingSubjectKeyIdentifier = ChainRule(
        "missingSubjectKeyIdentifier", "RFC 5280, 4.2.1.2", "An authority says which key is its own.", .intermediate
    ) { $0.facts.known.hasSubjectKeyIdentifier ? nil : "has no subject key identifier" }

    /// Only authorities constrain names.
    public static let nameConstraintsInLeaf = ChainRule(
        "nameConstraintsInLeaf", "RFC 5280, 4.2.1.10; Baseline Requirements, 7.1.2.7.6",
        "Only an authority has name constraints.", .leaf
    ) { $0.facts.first(.nameConstraints) == nil ? nil : "has name constraints, and is no authority" }

    private static func critical(
        _ name: String, _ citation: String, _ requirement: String, _ identifiers: Set<ObjectIdentifier>,
        scope: Scope = .anyAuthority
    ) -> ChainRule {
        ChainRule(name, citation, requirement, .intermediate, scope: scope) { link in
            let wrong = link.facts.extensions.first { !$0.isCritical && identifiers.contains($0.identifier) }
            return wrong.map { "has the extension \($0.identifier) as not critical" }
        }
    }
}
