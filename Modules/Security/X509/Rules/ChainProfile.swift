/// How strictly a chain is evaluated, beyond OpenSSL's own verification.
///
/// | profile | for | has |
/// |---|---|---|
/// | ``default`` | any authority, private ones included | what RFC 5280 and its like say MUST of |
/// | ``strict`` | the web's authorities | the same, and what the Baseline Requirements add |
/// | ``lenient`` | what cannot be put right | OpenSSL's verdict |
///
/// Name constraints (RFC 5280, 4.2.1.10) and the limits on work apply under each profile. If an authority violates one
/// rule, allow that rule by name:
///
/// ```swift
/// let profile = ChainProfile.default.allowing(.missingKeyUsage)
/// let policy = SecurityPolicy.everyHost(.systemTrust(anchors: anchors, profile: profile))
/// ```
public struct ChainProfile: Sendable, Hashable {
    /// The settings on which the result for a single certificate depends.
    struct Standards: Sendable, Hashable {
        var rules: Set<ChainRule>
        var keys = KeyRequirements()
        var maximumLeafLifetime: Duration?
    }

    private(set) var standards: Standards
    /// The rules that are enforced.
    public var rules: Set<ChainRule> { standards.rules }
    /// The keys and signatures that a chain may have. The rules about keys and signatures enforce them.
    public var keys: KeyRequirements {
        get { standards.keys }
        set { standards.keys = newValue }
    }
    /// The longest total validity of a server's certificate. The default is nil: no limit. Exceeding it is
    /// ``TrustRefusal/Reason/leafLifetime``.
    ///
    /// The CA/Browser Forum lowers its limit year by year (Baseline Requirements, 6.3.2), and it does not apply to
    /// private authorities; hence there is no default.
    public var maximumLeafLifetime: Duration? {
        get { standards.maximumLeafLifetime }
        set { standards.maximumLeafLifetime = newValue }
    }
    /// The maximum number of authorities between a server's certificate and the anchor; 0 accepts only certificates
    /// that an anchor issued, or that are one. The default and upper limit is 10. Exceeding it is
    /// ``TrustRefusal/Reason/chainInvalid``.
    public var maximumDepth = Int(ChainLimits.depth)
    /// How revocation is checked.
    public var revocation = RevocationOptions()

    /// The rules for every authority, which RFC 5280 and the other cited documents state with MUST.
    ///
    /// This is the default of all APIs that take a profile.
    public static let `default` = ChainProfile(rules: Set(ChainRule.allCases.filter { $0.scope == .anyAuthority }))

    /// The rules for public web authorities: the rules of ``default``, the CA/Browser Forum's Baseline Requirements,
    /// and the rules that RFC 5280 states with SHOULD.
    public static let strict = ChainProfile(rules: Set(ChainRule.allCases.filter { $0.scope != .none }))

    /// OpenSSL's verification at security level 2 (112 bits), name constraints, and the limits on work.
    public static let lenient = ChainProfile(rules: weaknesses)

    /// The rules that an OpenSSL security level enforces together.
    private static let weaknesses: Set<ChainRule> = [.sha1Signatures, .md5Signatures, .rsaKeySize]

    package init(rules: Set<ChainRule>) { standards = Standards(rules: rules) }

    /// Returns a copy without these rules.
    public func allowing(_ rules: ChainRule...) -> ChainProfile {
        var profile = self
        profile.standards.rules.subtract(rules)
        return profile
    }

    /// Returns a copy with these rules.
    public func enforcing(_ rules: ChainRule...) -> ChainProfile {
        var profile = self
        profile.standards.rules.formUnion(rules)
        return profile
    }

    /// OpenSSL refuses weak keys and digests together by one level. If a profile allows one of them, ``SecurityFloor``
    /// refuses the others.
    var securityLevel: Int32 { rules.isSuperset(of: Self.weaknesses) ? 2 : 0 }

    /// The maximum depth for OpenSSL.
    var depth: Int32 { Int32(max(0, min(maximumDepth, Int(ChainLimits.depth)))) }

    /// Policies are processed if unprocessed critical extensions are refused (RFC 5280, 6.1.3 (d)).
    var checksPolicies: Bool { rules.contains(.unprocessedCriticalExtension) }

    /// The first rule that a certificate violates, and the finding.
    func violation(_ link: ChainLink) -> (rule: ChainRule, finding: String)? {
        for rule in ChainRule.allCases where rule.applies(to: link.position) && rules.contains(rule) {
            if let finding = rule.check(link) { return (rule, finding) }
        }
        return nil
    }
}

/// A certificate and its position in a chain.
struct ChainLink {
    /// The position of a certificate in a chain.
    struct Position: OptionSet, Sendable {
        let rawValue: UInt8

        static let leaf = Position(rawValue: 1)
        static let intermediate = Position(rawValue: 2)
        /// The server's own certificate as an anchor.
        static let ownAnchor = Position(rawValue: 4)
        /// A root or another authority as an anchor (RFC 5280, 6.1.1 (d)).
        static let issuingAnchor = Position(rawValue: 8)

        static let belowAnchor: Position = [.leaf, .intermediate]
        static let anchor: Position = [.ownAnchor, .issuingAnchor]
        static let all: Position = [.belowAnchor, .anchor]
    }

    let facts: CertificateFacts
    let position: Position
    let profile: ChainProfile
}

extension ChainProfile {
    /// The keys and signatures that a chain may have.
    ///
    /// ```swift
    /// var profile = ChainProfile.strict
    /// profile.keys.minimumRSABits = 3072
    /// profile.keys.kinds = [.p256, .p384]
    /// ```
    public struct KeyRequirements: Sendable, Hashable {
        /// A kind of key. New ones may be added.
        public struct KeyKind: Hashable, Sendable, CustomStringConvertible {
            /// The kind's name.
            public let description: String

            private init(_ description: String) { self.description = description }

            /// RSA.
            public static let rsa = KeyKind("RSA")
            /// RSA for RSASSA-PSS alone (RFC 4055, 1.2).
            public static let rsaPSS = KeyKind("RSASSA-PSS")
            /// Elliptic curve P-256.
            public static let p256 = KeyKind("P-256")
            /// Elliptic curve P-384.
            public static let p384 = KeyKind("P-384")
            /// Elliptic curve P-521.
            public static let p521 = KeyKind("P-521")
            /// Ed25519 (RFC 8410).
            public static let ed25519 = KeyKind("Ed25519")
            /// Ed448 (RFC 8410).
            public static let ed448 = KeyKind("Ed448")

            package static let all: Set<KeyKind> = [.rsa, .rsaPSS, .p256, .p384, .p521, .ed25519, .ed448]
        }

        /// The smallest RSA modulus in bits. The default is 2048; more than 8192 is never accepted.
        public var minimumRSABits = 2048
        /// The kinds of keys that certificates of a chain may have. The default is all kinds defined here.
        public var kinds: Set<KeyKind> = KeyKind.all
        /// The algorithms that certificates below the anchor may be signed with. The default is
        /// ``ChainProfile/SignatureAlgorithm/all``.
        public var signatures: Set<SignatureAlgorithm> = SignatureAlgorithm.all

        /// The defaults.
        public init() {}
    }
}

extension ChainProfile {
    /// A signature algorithm of a certificate. New ones may be added.
    public struct SignatureAlgorithm: Hashable, Sendable, CustomStringConvertible {
        /// The algorithm's name.
        public let description: String
        /// The AlgorithmIdentifier in DER; each algorithm has one encoding (Baseline Requirements, 7.1.3.2).
        let encoding: [UInt8]

        private init(_ description: String, _ encoding: [UInt8]) {
            self.description = description
            self.encoding = encoding
        }

        /// RSASSA-PKCS1-v1_5 with SHA-256.
        public static let rsaSHA256 = rsa("RSA with SHA-256", 0x0B)
        /// RSASSA-PKCS1-v1_5 with SHA-384.
        public static let rsaSHA384 = rsa("RSA with SHA-384", 0x0C)
        /// RSASSA-PKCS1-v1_5 with SHA-512.
        public static let rsaSHA512 = rsa("RSA with SHA-512", 0x0D)
        /// RSASSA-PSS with SHA-256 and 32 bytes of salt.
        public static let rsaPSSSHA256 = pss("RSASSA-PSS with SHA-256", 1, salt: 32)
        /// RSASSA-PSS with SHA-384 and 48 bytes of salt.
        public static let rsaPSSSHA384 = pss("RSASSA-PSS with SHA-384", 2, salt: 48)
        /// RSASSA-PSS with SHA-512 and 64 bytes of salt.
        public static let rsaPSSSHA512 = pss("RSASSA-PSS with SHA-512", 3, salt: 64)
        /// ECDSA with SHA-256.
        public static let ecdsaSHA256 = ecdsa("ECDSA with SHA-256", 2)
        /// ECDSA with SHA-384.
        public static let ecdsaSHA384 = ecdsa("ECDSA with SHA-384", 3)
        /// ECDSA with SHA-512.
        public static let ecdsaSHA512 = ecdsa("ECDSA with SHA-512", 4)
        /// Ed25519.
        public static let ed25519 = SignatureAlgorithm("Ed25519", [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70])
        /// Ed448.
        public static let ed448 = SignatureAlgorithm("Ed448", [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x71])

        /// All algorithms defined here.
        public static let all: Set<SignatureAlgorithm> = [
            .rsaSHA256, .rsaSHA384, .rsaSHA512, .rsaPSSSHA256, .rsaPSSSHA384, .rsaPSSSHA512, .ecdsaSHA256, .ecdsaSHA384,
            .ecdsaSHA512, .ed25519, .ed448,
        ]

        private static let pkcs1: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01]
        private static let sha2: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02]

        private static func rsa(_ name: String, _ number: UInt8) -> SignatureAlgorithm {
            SignatureAlgorithm(name, [0x30, 0x0D, 0x06, 0x09] + pkcs1 + [number, 0x05, 0x00])
        }

        private static func ecdsa(_ name: String, _ number: UInt8) -> SignatureAlgorithm {
            SignatureAlgorithm(
                name, [0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, number])
        }

        /// Digest and mask generation use the same hash (RFC 4055, 3.1).
        private static func pss(_ name: String, _ digest: UInt8, salt: UInt8) -> SignatureAlgorithm {
            let hash: [UInt8] = [0x30, 0x0D, 0x06, 0x09] + sha2 + [digest, 0x05, 0x00]
            let mask: [UInt8] = [0x30, 0x1A, 0x06, 0x09] + pkcs1 + [0x08] + hash
            let parameters: [UInt8] = [0xA0, 0x0F] + hash + [0xA1, 0x1C] + mask + [0xA2, 0x03, 0x02, 0x01, salt]
            return SignatureAlgorithm(name, [0x30, 0x41, 0x06, 0x09] + pkcs1 + [0x0A, 0x30, 0x34] + parameters)
        }
    }
}
