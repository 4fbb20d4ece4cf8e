public import FoundationEssentials

/// The content of a security policy file, in JSON.
///
/// ```json
/// {
///   "version": 1,
///   "comment": "the keys of 2026",
///   "otherHosts": "systemTrust",
///   "rules": [
///     {
///       "hosts": ["**.example.com"],
///       "pins": ["sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys="],
///       "backupPins": ["sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg="],
///       "pinsExpire": "2027-06-30T00:00:00Z",
///       "afterExpiry": "dropPins",
///       "reportOnly": true
///     },
///     {
///       "hosts": ["10.0.0.0/8", "@single-label"],
///       "trust": "anchors",
///       "anchors": ["company.pem"],
///       "allowedRules": ["missingKeyUsage"]
///     },
///     { "hosts": ["old.example.com"], "trust": "refuse" }
///   ],
///   "includes": ["partners.json"]
/// }
/// ```
///
/// Requests in clear text are allowed for the hosts of a rule with `"trust"` `"system"`, the default, or
/// `"systemAndAnchors"` that enforces no pins, and for hosts without a rule unless they are refused
/// (``SecurityPolicy/allowsCleartext(to:)``).
///
/// Decoding is strict: unknown and repeated keys, values of another type and other versions are errors that carry their
/// location. ``SecurityPolicyFile`` makes a policy from a document.
public struct SecurityPolicyDocument: Sendable, Hashable, Codable {
    /// The version that this release reads and writes.
    public static let currentVersion = 1

    /// How hosts without a rule are treated.
    public enum OtherHosts: String, Sendable, Hashable, CaseIterable {
        /// The system's store evaluates them.
        case systemTrust
        /// They are refused.
        case refuse
    }

    /// A comment for readers of the file.
    public var comment: String?
    /// How hosts without a rule are treated; nil for the default, the system's store. Not allowed in an included file.
    public var otherHosts: OtherHosts?
    /// The rules in any order; the most specific one for a host applies.
    public var rules: [Rule]
    /// Files whose rules are added, with paths relative to this file's directory.
    public var includes: [String]

    /// Creates a document.
    public init(
        rules: [Rule] = [], otherHosts: OtherHosts? = nil, includes: [String] = [], comment: String? = nil
    ) {
        self.rules = rules
        self.otherHosts = otherHosts
        self.includes = includes
        self.comment = comment
    }

    /// Decodes JSON in UTF-8 of at most one mebibyte.
    ///
    /// - Throws: ``SecurityError/Code/invalidPolicyFile``, ``SecurityError/Code/unknownPolicyVersion``,
    ///   ``SecurityError/Code/unknownPolicyKey`` or ``SecurityError/Code/missingPolicyKey``, with the location in
    ///   ``SecurityError/path`` and ``SecurityError/line``.
    public init(json: Data) throws(SecurityError) {
        self = try PolicyDecoding.document(json)
    }

    /// Encodes the document in JSON with sorted keys and without default values.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    enum Key: String, CodingKey, CaseIterable {
        case version
        case comment
        case otherHosts
        case rules
        case includes
    }

    /// Decodes a document as ``init(json:)`` does, but does not detect repeated keys.
    public init(from decoder: any Decoder) throws {
        let object = try PolicyObject<Key>(decoder)
        // Checked first: a file of another version may have other keys, and the version is the more useful error.
        let version = try object.required(Int.self, .version)
        guard version == Self.currentVersion else {
            throw SecurityError(
                .unknownPolicyVersion, "This release reads version \(Self.currentVersion), not \(version).",
                path: object.path(.version))
        }
        try object.refuseUnknownKeys()
        comment = try object.optional(String.self, .comment)
        otherHosts = try object.choice(.otherHosts)
        rules = try object.optional([Rule].self, .rules) ?? []
        includes = try object.optional([String].self, .includes) ?? []
    }

    /// Encodes a document of the current version.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.currentVersion, forKey: .version)
        try container.encodeIfPresent(comment, forKey: .comment)
        try container.encodeIfPresent(otherHosts?.rawValue, forKey: .otherHosts)
        try container.encode(rules, forKey: .rules)
        if !includes.isEmpty { try container.encode(includes, forKey: .includes) }
    }
}

extension SecurityPolicyDocument {
    /// A rule for some hosts.
    public struct Rule: Sendable, Hashable, Codable {
        /// The anchors of a rule.
        public enum Trust: String, Sendable, Hashable, CaseIterable {
            /// The system's anchors.
            case system
            /// Only those in ``Rule/anchors``.
            case anchors
            /// The system's anchors and those in ``Rule/anchors``.
            case systemAndAnchors
            /// None: the hosts are refused.
            case refuse
        }

        /// The profile of a rule.
        public enum Profile: String, Sendable, Hashable, CaseIterable {
            /// ``ChainProfile/default``: for any authority.
            case `default`
            /// ``ChainProfile/strict``: for public web authorities.
            case strict
            /// ``ChainProfile/lenient``.
            case lenient
        }

        /// A comment for readers of the file.
        public var comment: String?
        /// The hosts, each in the form of a ``HostPattern``.
        public var hosts: [String]
        /// The anchors. The default is the system's.
        public var trust: Trust
        /// Files with anchors, in PEM or DER, with paths relative to the file's directory.
        public var anchors: [String]
        /// The profile. The default is ``Profile/default``.
        public var profile: Profile
        /// The rules of the profile that are not enforced, by name (``ChainRule/description``).
        public var allowedRules: [String]
        /// The keys in use, each in the form of a ``PublicKeyPin``; nil for a rule that does not pin. An empty list is
        /// an error.
        public var pins: [String]?
        /// Keys stored elsewhere as replacements for a lost key.
        public var backupPins: [String]
        /// The certificates that are compared. The default is any of the verified chain.
        public var pinPosition: PinPosition
        /// When the pins expire, in the format of RFC 3339; nil for never.
        public var pinsExpire: Date?
        /// What happens from then on; required if the pins expire.
        public var afterExpiry: PinExpiry.Consequence?
        /// Whether refusals are only reported. Then the rule without its pins is enforced or, for a rule without pins,
        /// the system's store.
        public var reportOnly: Bool

        /// Creates a rule that uses the system's anchors.
        public init(hosts: [String], pins: [String]? = nil, backupPins: [String] = []) {
            self.hosts = hosts
            self.pins = pins
            self.backupPins = backupPins
            trust = .system
            anchors = []
            profile = .default
            allowedRules = []
            pinPosition = .anyInVerifiedChain
            reportOnly = false
        }

        enum Key: String, CodingKey, CaseIterable {
            case comment
            case hosts
            case trust
            case anchors
            case profile
            case allowedRules
            case pins
            case backupPins
            case pinPosition
            case pinsExpire
            case afterExpiry
            case reportOnly
        }

        /// Decodes a rule; unknown keys are errors.
        public init(from decoder: any Decoder) throws {
            let object = try PolicyObject<Key>(decoder)
            try object.refuseUnknownKeys()
            comment = try object.optional(String.self, .comment)
            hosts = try object.required([String].self, .hosts)
            trust = try object.choice(.trust) ?? .system
            anchors = try object.optional([String].self, .anchors) ?? []
            profile = try object.choice(.profile) ?? .default
            allowedRules = try object.optional([String].self, .allowedRules) ?? []
            pins = try object.optional([String].self, .pins)
            backupPins = try object.optional([String].self, .backupPins) ?? []
            pinPosition = try object.choice(.pinPosition) ?? .anyInVerifiedChain
            pinsExpire = try object.moment(.pinsExpire)
            afterExpiry = try object.choice(.afterExpiry)
            reportOnly = try object.optional(Bool.self, .reportOnly) ?? false
        }

        /// Encodes a rule; default values are left out.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encodeIfPresent(comment, forKey: .comment)
            try container.encode(hosts, forKey: .hosts)
            if trust != .system { try container.encode(trust.rawValue, forKey: .trust) }
            if !anchors.isEmpty { try container.encode(anchors, forKey: .anchors) }
            if profile != .default { try container.encode(profile.rawValue, forKey: .profile) }
            if !allowedRules.isEmpty { try container.encode(allowedRules, forKey: .allowedRules) }
            try container.encodeIfPresent(pins, forKey: .pins)
            if !backupPins.isEmpty { try container.encode(backupPins, forKey: .backupPins) }
            if pinPosition != .anyInVerifiedChain { try container.encode(pinPosition, forKey: .pinPosition) }
            try container.encodeIfPresent(pinsExpire?.formatted(.iso8601), forKey: .pinsExpire)
            try container.encodeIfPresent(afterExpiry, forKey: .afterExpiry)
            if reportOnly { try container.encode(reportOnly, forKey: .reportOnly) }
        }
    }
}
