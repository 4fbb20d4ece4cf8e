/// How strictly a chain is judged, beyond what OpenSSL itself refuses.
///
/// | profile | for | has |
/// |---|---|---|
/// | ``default`` | any authority, private ones included | what RFC 5280 and its like say MUST of |
/// | ``strict`` | the web's authorities | the same, and what the Baseline Requirements add |
/// | ``lenient`` | what cannot be put right | OpenSSL's verdict |
///
/// Name constraints (RFC 5280, 4.2.1.10) and the limits on work hold under each. An authority that breaks one rule can have
/// that rule allowed by name:
///
/// ```swift
/// let profile = ChainProfile.default.allowing(.missingKeyUsage)
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
    /// How many authorities may stand between a server's certificate and the anchor. The default is 10, and more than 10 is
    /// as much; 0 is for servers that an anchor certifies itself, or that are one.
    public var maximumDepth = Int(ChainLimits.depth)
    /// What is done about revoked certificates.
    public var revocation = RevocationOptions()

    /// What every authority is bound by: the rules that say MUST in RFC 5280 and where else they are cited from.
    ///
    /// This is the default wherever a profile is asked for.
    public static let `default` = ChainProfile(rules: Set(ChainRule.allCases.filter { $0.scope == .anyAuthority }))

    /// What the authorities of the web are bound by: the rules of ``default``, those of the CA/Browser Forum's Baseline
    /// Requirements, and what RFC 5280 says SHOULD of.
    public static let strict = ChainProfile(rules: Set(ChainRule.allCases.filter { $0.scope != .none }))

    /// OpenSSL's verdict at its security level 2 (112 bits), name constraints, and the limits on work.
    public static let lenient = ChainProfile(rules: weaknesses)

    /// The rules that one of OpenSSL's security levels enforces by a number.
    private static let weaknesses: Set<ChainRule> = [.sha1Signatures, .md5Signatures, .rsaKeySize]

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

    /// OpenSSL refuses weak keys and digests by one number; where one kind of them is allowed, ``SecurityFloor`` refuses
    /// the others.
    var securityLevel: Int32 { rules.isSuperset(of: Self.weaknesses) ? 2 : 0 }

    /// How deep OpenSSL may go.
    var depth: Int32 { Int32(max(0, min(maximumDepth, Int(ChainLimits.depth)))) }

    /// Policies are processed where critical extensions that are not are refused (RFC 5280, 6.1.3 (d)).
    var checksPolicies: Bool { rules.contains(.unprocessedCriticalExtension) }

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
        /// The server's own certificate, trusted as it is.
        static let ownAnchor = Position(rawValue: 4)
        /// A root or another authority, trusted as it is (RFC 5280, 6.1.1 (d)).
        static let issuingAnchor = Position(rawValue: 8)

        static let belowAnchor: Position = [.leaf, .intermediate]
        static let anchor: Position = [.ownAnchor, .issuingAnchor]
        static let all: Position = [.belowAnchor, .anchor]
    }

    let facts: CertificateFacts
    let position: Position
    let profile: ChainProfile
}
