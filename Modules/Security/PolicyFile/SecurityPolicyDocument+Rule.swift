public import FoundationEssentials

extension SecurityPolicyDocument {
    /// What a file says of some hosts.
    public struct Rule: Sendable, Hashable, Codable {
        /// Where a chain may end.
        public enum Trust: String, Sendable, Hashable, CaseIterable {
            /// At the system's anchors.
            case system
            /// At those of ``Rule/anchors`` alone.
            case anchors
            /// At either.
            case systemAndAnchors
            /// Nowhere: the hosts are refused.
            case refuse
        }

        /// How strictly a chain is judged.
        public enum Profile: String, Sendable, Hashable, CaseIterable {
            /// As ``ChainProfile/default`` says: for any authority.
            case `default`
            /// As ``ChainProfile/strict`` says: for the web's authorities.
            case strict
            /// As ``ChainProfile/lenient`` says.
            case lenient
        }

        /// Words for whoever reads the file.
        public var comment: String?
        /// The hosts, each as ``HostPattern`` writes it.
        public var hosts: [String]
        /// Where a chain may end. The default is at the system's anchors.
        public var trust: Trust
        /// Files with anchors, PEM or DER, by paths that are relative to the file's folder.
        public var anchors: [String]
        /// How strictly a chain is judged. The default is ``Profile/default``.
        public var profile: Profile
        /// Rules of the profile that are not enforced, each by its name (``ChainRule/description``).
        public var allowedRules: [String]
        /// The keys in use, each as ``PublicKeyPin`` writes it; nil for a rule that does not pin. None is an error.
        public var pins: [String]?
        /// Keys that are kept elsewhere, for the day on which one in use is lost.
        public var backupPins: [String]
        /// Which certificate has to be pinned. The default is any of the verified chain.
        public var pinPosition: PinPosition
        /// When the pins stop to count, as RFC 3339 writes moments; nil for never.
        public var pinsExpire: Date?
        /// What holds from then on; it has to be said where the pins expire.
        public var afterExpiry: PinExpiry.Consequence?
        /// Whether refusals are reported only. What holds then is the rule without its pins; without pins, the system's store.
        public var reportOnly: Bool

        /// Makes a rule without pins, on the system's anchors.
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

        /// Reads a rule strictly.
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

        /// Writes a rule; what has its default is left out.
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
