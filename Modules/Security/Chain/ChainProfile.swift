/// How strictly a chain is judged, beyond what OpenSSL itself refuses.
///
/// The default is ``strict``. A private authority that breaks one rule can have that rule allowed by name:
///
/// ```swift
/// let profile = ChainProfile.strict.allowing(.missingKeyUsage, .commonNameNotInNames)
/// let policy = SecurityPolicy.everyHost(SystemTrustEvaluator(anchors: anchors, profile: profile))
/// ```
public struct ChainProfile: Sendable, Hashable {
    /// What a certificate's own verdict depends on.
    struct Standards: Sendable, Hashable {
        var rules: Set<ChainRule>
        var keys = KeyRequirements()
        var maximumLeafLifetime: Duration?
    }

    private(set) var standards: Standards
    /// The rules that are enforced.
    public var rules: Set<ChainRule> { standards.rules }
    /// Which keys and signatures a chain may have; enforced by the rules about keys and signatures.
    public var keys: KeyRequirements {
        get { standards.keys }
        set { standards.keys = newValue }
    }
    /// How long a server's certificate may be valid in all; nil, the default, is for any time.
    ///
    /// The CA/Browser Forum's limit falls year by year (Baseline Requirements, 6.3.2), and private authorities are not
    /// bound by it; hence no default.
    public var maximumLeafLifetime: Duration? {
        get { standards.maximumLeafLifetime }
        set { standards.maximumLeafLifetime = newValue }
    }
    /// What is done about revoked certificates.
    public var revocation = RevocationOptions()

    /// Every rule of ``ChainRule/allCases`` that is enforced unless it is allowed.
    public static let strict = ChainProfile(rules: Set(ChainRule.allCases.filter(\.isEnforcedByDefault)))

    /// OpenSSL's verdict at its security level 2 (112 bits), and the limits on work.
    public static let lenient = ChainProfile(rules: [.sha1Signatures, .md5Signatures, .rsaKeySize])

    private init(rules: Set<ChainRule>) { standards = Standards(rules: rules) }

    /// The same without these rules.
    public func allowing(_ rules: ChainRule...) -> ChainProfile {
        var profile = self
        profile.standards.rules.subtract(rules)
        return profile
    }

    /// The same with these rules.
    public func enforcing(_ rules: ChainRule...) -> ChainProfile {
        var profile = self
        profile.standards.rules.formUnion(rules)
        return profile
    }

    /// OpenSSL refuses weak keys and digests by one number; where a rule about them is allowed, our rules alone count.
    var securityLevel: Int32 {
        rules.isSuperset(of: Self.lenient.rules) ? 2 : 0
    }

    /// The first rule that a certificate of a chain breaks, and how.
    func violation(_ link: ChainLink) -> (rule: ChainRule, finding: String)? {
        for rule in ChainRule.allCases where rule.applies(to: link.position) && rules.contains(rule) {
            if let finding = rule.check(link) { return (rule, finding) }
        }
        return nil
    }
}

/// One certificate in its place in a chain.
struct ChainLink {
    /// Where a certificate stands.
    struct Position: OptionSet, Sendable {
        let rawValue: UInt8

        static let leaf = Position(rawValue: 1)
        static let intermediate = Position(rawValue: 2)
        /// Trusted as it is, be it a root, another authority, or the server's own certificate (RFC 5280, 6.1.1 (d)).
        static let anchor = Position(rawValue: 4)

        static let belowAnchor: Position = [.leaf, .intermediate]
        static let all: Position = [.leaf, .intermediate, .anchor]
    }

    let facts: CertificateFacts
    let position: Position
    let profile: ChainProfile
}
