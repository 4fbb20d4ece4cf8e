public import FoundationEssentials
public import LinnetSecurity

extension SecurityPolicyDocument {
    /// A rule for some hosts.
    public struct Rule: Sendable, Hashable, Codable {
        /// The anchors of a rule.
        public enum Trust: String, Sendable, Hashable, CaseIterable {
            /// The system's anchors.
            case system
            /// Only the certificates in ``Rule/anchors``.
            case anchors
            /// The system's anchors and the certificates in ``Rule/anchors``.
            case systemAndAnchors
            /// Only the certificates in ``Rule/pinnedCertificates``.
            case pinnedCertificates
            /// None: only the host of the certificate is checked (`TrustEvaluator.hostname`). For members of
            /// ``Rule/allOf``.
            case hostname
            /// None: any certificate is accepted. For experiments only.
            case insecureAcceptAnyCertificate
            /// None: the hosts are refused.
            case refuse
        }

        /// The profile of a rule.
        public enum Profile: String, Sendable, Hashable, CaseIterable {
            /// `ChainProfile.default`: for any authority.
            case `default`
            /// `ChainProfile.strict`: for public web authorities.
            case strict
            /// `ChainProfile.lenient`.
            case lenient
        }

        /// A comment for readers of the file.
        public var comment: String?
        /// The hosts, each in the form of a `HostPattern`. A rule within another one, and the rule for other hosts,
        /// have none.
        public var hosts: [String]
        /// The anchors. The default is the system's.
        public var trust: Trust
        /// Files with anchors, in PEM or DER, with paths relative to the file's directory; or anchors as PEM text,
        /// which begins with `-----BEGIN`.
        public var anchors: [String]
        /// The profile. The default is ``Profile/default``.
        public var profile: Profile
        /// The rules of the profile that are not enforced, by name (`ChainRule.description`).
        public var allowedRules: [String]
        /// A profile with settings that ``profile`` and ``allowedRules``, which must then have their defaults, do not
        /// have. The default is nil.
        public var chainProfile: ChainProfile?
        /// Whether the certificate has to match the host. The default is true.
        public var validatesDomainName: Bool
        /// The keys in use, each in the form of a `PublicKeyPin`; nil for a rule that does not pin. An empty list is
        /// an error.
        public var pins: [String]?
        /// Keys stored elsewhere as replacements for a lost key.
        public var backupPins: [String]
        /// The pinned certificates, as files or PEM text like ``anchors``; nil for a rule that does not pin
        /// certificates.
        public var pinnedCertificates: [String]?
        /// The semantics of AFNetworking's `AFSecurityPolicy` with ``pinnedCertificates``, except for the combinations
        /// that accept any server. The default is nil.
        public var pinningMode: PinningMode?
        /// Whether a chain is accepted that leads to no anchor; for a rule with a ``pinningMode``. The default is
        /// false.
        public var allowInvalidCertificates: Bool
        /// The certificates that are compared. The default is any of the verified chain.
        public var pinPosition: PinSet.Position
        /// When the pins expire, in the format of RFC 3339; nil for never.
        public var pinsExpire: Date?
        /// The effect of the expiry; required if the pins expire.
        public var afterExpiry: PinSet.Expiry.Consequence?
        /// Whether refusals are only reported. Then the rule without its pins is enforced or, for a rule without pins,
        /// the system's store. A rule that refuses nothing more than the system's store cannot have it. The default is
        /// false.
        public var reportOnly: Bool

        /// Rules without hosts, in order. Their refusals are only reported. The default is none.
        public var observed: [Rule]
        /// Rules without hosts, each of which must accept a chain. They take the place of this rule's anchors and pins.
        /// The default is none.
        public var allOf: [Rule]
        /// Rules without hosts, one of which must accept a chain. They take the place of this rule's anchors and pins.
        /// The default is none.
        public var anyOf: [Rule]
        /// Whether requests in clear text may be sent to the hosts, whatever the rule checks
        /// (`TrustEvaluator.insecureAllowingCleartext()`). The default is false.
        public var insecureAllowsCleartext: Bool

        /// Creates a rule that uses the system's anchors.
        public init(hosts: [String] = [], pins: [String]? = nil, backupPins: [String] = []) {
            self.hosts = hosts
            self.pins = pins
            self.backupPins = backupPins
            trust = .system
            (anchors, allowedRules) = ([], [])
            profile = .default
            pinPosition = .anyInVerifiedChain
            validatesDomainName = true
            (allowInvalidCertificates, reportOnly, insecureAllowsCleartext) = (false, false, false)
            (observed, allOf, anyOf) = ([], [], [])
        }

        enum Key: String, CodingKey, CaseIterable {
            case comment
            case hosts
            case trust
            case anchors
            case profile
            case allowedRules
            case chainProfile
            case validatesDomainName
            case pins
            case backupPins
            case pinnedCertificates
            case pinningMode
            case allowInvalidCertificates
            case pinPosition
            case pinsExpire
            case afterExpiry
            case reportOnly
            case observed
            case allOf
            case anyOf
            case insecureAllowsCleartext
        }

        /// Decodes a rule; unknown keys are errors.
        public init(from decoder: any Decoder) throws {
            try self.init(PolicyObject(decoder), isNested: false)
        }

        /// Encodes a rule; default values are left out.
        public func encode(to encoder: any Encoder) throws { try encode(to: encoder, isNested: false) }
    }

    /// A rule within another one, or for other hosts: it has no hosts.
    struct NestedRule: Codable {
        /// How deeply rules are nested when they are written.
        static let maximumDepth = 8
        /// The keys and indices that may lead to a nested rule, which bounds the recursion of all that visits rules.
        /// Each level has two; the rest is for the values that a document may lie in.
        static let longestPath = 4 * maximumDepth

        let rule: Rule

        init(rule: Rule) { self.rule = rule }

        init(from decoder: any Decoder) throws {
            rule = try Rule(PolicyObject(decoder), isNested: true)
        }

        func encode(to encoder: any Encoder) throws { try rule.encode(to: encoder, isNested: true) }
    }
}

extension SecurityPolicyDocument.Rule {
    fileprivate init(_ object: PolicyObject<Key>, isNested: Bool) throws {
        try object.refuseUnknownKeys(without: isNested ? [.hosts] : [])
        self.init(hosts: isNested ? [] : try object.required([String].self, .hosts))
        comment = try object.optional(String.self, .comment)
        trust = try object.choice(.trust) ?? .system
        anchors = try object.optional([String].self, .anchors) ?? []
        profile = try object.choice(.profile) ?? .default
        allowedRules = try object.optional([String].self, .allowedRules) ?? []
        chainProfile = try object.optional(ChainProfile.self, .chainProfile)
        validatesDomainName = try object.optional(Bool.self, .validatesDomainName) ?? true
        pins = try object.optional([String].self, .pins)
        backupPins = try object.optional([String].self, .backupPins) ?? []
        pinnedCertificates = try object.optional([String].self, .pinnedCertificates)
        pinningMode = try object.choice(.pinningMode)
        allowInvalidCertificates = try object.optional(Bool.self, .allowInvalidCertificates) ?? false
        pinPosition = try object.choice(.pinPosition) ?? .anyInVerifiedChain
        pinsExpire = try object.moment(.pinsExpire)
        afterExpiry = try object.choice(.afterExpiry)
        reportOnly = try object.optional(Bool.self, .reportOnly) ?? false
        insecureAllowsCleartext = try object.optional(Bool.self, .insecureAllowsCleartext) ?? false
        observed = try object.nestedRules(.observed)
        allOf = try object.nestedRules(.allOf)
        anyOf = try object.nestedRules(.anyOf)
    }

    fileprivate func encode(to encoder: any Encoder, isNested: Bool) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(comment, forKey: .comment)
        if !isNested || !hosts.isEmpty { try container.encode(hosts, forKey: .hosts) }
        if trust != .system { try container.encode(trust.rawValue, forKey: .trust) }
        if !anchors.isEmpty { try container.encode(anchors, forKey: .anchors) }
        if profile != .default { try container.encode(profile.rawValue, forKey: .profile) }
        if !allowedRules.isEmpty { try container.encode(allowedRules, forKey: .allowedRules) }
        try container.encodeIfPresent(chainProfile, forKey: .chainProfile)
        if !validatesDomainName { try container.encode(validatesDomainName, forKey: .validatesDomainName) }
        try container.encodeIfPresent(pins, forKey: .pins)
        if !backupPins.isEmpty { try container.encode(backupPins, forKey: .backupPins) }
        try container.encodeIfPresent(pinnedCertificates, forKey: .pinnedCertificates)
        try container.encodeIfPresent(pinningMode, forKey: .pinningMode)
        if allowInvalidCertificates { try container.encode(true, forKey: .allowInvalidCertificates) }
        if pinPosition != .anyInVerifiedChain { try container.encode(pinPosition, forKey: .pinPosition) }
        try container.encodeIfPresent(pinsExpire.map(PolicyMoment.text), forKey: .pinsExpire)
        try container.encodeIfPresent(afterExpiry, forKey: .afterExpiry)
        if reportOnly { try container.encode(reportOnly, forKey: .reportOnly) }
        if insecureAllowsCleartext { try container.encode(true, forKey: .insecureAllowsCleartext) }
        for (key, rules) in [(Key.observed, observed), (.allOf, allOf), (.anyOf, anyOf)] where !rules.isEmpty {
            try container.encode(rules.map(SecurityPolicyDocument.NestedRule.init), forKey: key)
        }
    }
}

extension PolicyObject {
    fileprivate func nestedRules(_ key: Key) throws -> [SecurityPolicyDocument.Rule] {
        guard contains(key) else { return [] }
        guard depth + 2 <= SecurityPolicyDocument.NestedRule.longestPath else {
            throw SecurityError(.invalidPolicyFile, "The rules are nested too deeply.", path: path(key))
        }
        return try required([SecurityPolicyDocument.NestedRule].self, key).map(\.rule)
    }
}
