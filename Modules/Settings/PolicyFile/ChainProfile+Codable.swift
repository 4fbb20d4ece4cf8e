internal import LinnetMessages
public import LinnetSecurity

/// Coded as the closest profile, and the differences from it:
///
/// ```json
/// {
///   "profile": "strict",
///   "allowedRules": ["missingKeyUsage"],
///   "keys": { "minimumRSABits": 3072 },
///   "maximumLeafLifetime": 8640000,
///   "revocation": { "failure": "hardForLeaf" }
/// }
/// ```
///
/// Durations are numbers of seconds, revocation lists PEM text. Missing keys have the defaults. Decoding is strict:
/// unknown keys and names throw a `SecurityError`.
extension ChainProfile: Codable {
    enum Key: String, CodingKey, CaseIterable {
        case profile
        case allowedRules
        case enforcedRules
        case keys
        case maximumLeafLifetime
        case maximumDepth
        case revocation
    }

    /// Decodes a profile.
    public init(from decoder: any Decoder) throws {
        let object = try PolicyObject<Key>(decoder)
        try object.refuseUnknownKeys()
        let name: SecurityPolicyDocument.Rule.Profile = try object.choice(.profile) ?? .default
        let rules = Set(ChainRule.allCases)
        self.init(
            rules: name.chainProfile.rules.subtracting(try object.named(rules, .allowedRules) ?? [])
                .union(try object.named(rules, .enforcedRules) ?? []))
        keys = try object.optional(KeyRequirements.self, .keys) ?? keys
        maximumLeafLifetime = try object.seconds(.maximumLeafLifetime)
        maximumDepth = try object.optional(Int.self, .maximumDepth) ?? maximumDepth
        revocation = try object.optional(RevocationOptions.self, .revocation) ?? revocation
    }

    /// Encodes the profile; default values are left out.
    public func encode(to encoder: any Encoder) throws {
        let (name, allowed, enforced) = difference
        var container = encoder.container(keyedBy: Key.self)
        if name != .default { try container.encode(name.rawValue, forKey: .profile) }
        if !allowed.isEmpty { try container.encode(allowed.names, forKey: .allowedRules) }
        if !enforced.isEmpty { try container.encode(enforced.names, forKey: .enforcedRules) }
        if keys != KeyRequirements() { try container.encode(keys, forKey: .keys) }
        try container.encodeIfPresent(maximumLeafLifetime?.codedSeconds, forKey: .maximumLeafLifetime)
        if maximumDepth != ChainProfile.default.maximumDepth {
            try container.encode(maximumDepth, forKey: .maximumDepth)
        }
        if revocation != RevocationOptions() { try container.encode(revocation, forKey: .revocation) }
    }

    /// The closest named profile, and the rules that it enforces more and less than this one.
    private var difference:
        (name: SecurityPolicyDocument.Rule.Profile, allowed: Set<ChainRule>, enforced: Set<ChainRule>)
    {
        let name =
            SecurityPolicyDocument.Rule.Profile.allCases.min {
                rules.symmetricDifference($0.chainProfile.rules).count
                    < rules.symmetricDifference($1.chainProfile.rules).count
            } ?? .default
        let base = name.chainProfile.rules
        return (name, base.subtracting(rules), rules.subtracting(base))
    }

    /// The profile as a name and the rules of it that are not enforced; nil if it differs in another way.
    var nameAndAllowedRules: (SecurityPolicyDocument.Rule.Profile, [String])? {
        let (name, allowed, enforced) = difference
        return enforced.isEmpty && ChainProfile(rules: rules) == self ? (name, allowed.names) : nil
    }
}

extension SecurityPolicyDocument.Rule.Profile {
    /// The profile with this name.
    var chainProfile: ChainProfile {
        switch self {
        case .default: .default
        case .strict: .strict
        case .lenient: .lenient
        }
    }
}

/// Coded as an object with a member for each property that has another value than its default.
extension ChainProfile.KeyRequirements: Codable {
    enum Key: String, CodingKey, CaseIterable {
        case minimumRSABits
        case kinds
        case signatures
    }

    /// Decodes requirements.
    public init(from decoder: any Decoder) throws {
        self.init()
        let object = try PolicyObject<Key>(decoder)
        try object.refuseUnknownKeys()
        minimumRSABits = try object.optional(Int.self, .minimumRSABits) ?? minimumRSABits
        kinds = try object.named(KeyKind.all, .kinds) ?? kinds
        signatures = try object.named(ChainProfile.SignatureAlgorithm.all, .signatures) ?? signatures
    }

    /// Encodes the requirements.
    public func encode(to encoder: any Encoder) throws {
        let defaults = ChainProfile.KeyRequirements()
        var container = encoder.container(keyedBy: Key.self)
        if minimumRSABits != defaults.minimumRSABits { try container.encode(minimumRSABits, forKey: .minimumRSABits) }
        if kinds != defaults.kinds { try container.encode(kinds.names, forKey: .kinds) }
        if signatures != defaults.signatures { try container.encode(signatures.names, forKey: .signatures) }
    }
}

extension Set where Element: CustomStringConvertible {
    fileprivate var names: [String] { map(\.description).sorted() }
}

extension PolicyObject {
    /// A list of names, each of one of the values.
    func named<Value: Hashable & CustomStringConvertible>(_ values: Set<Value>, _ key: Key) throws -> Set<Value>? {
        guard let names = try optional([String].self, key) else { return nil }
        return Set(
            try names.enumerated().map { index, name in
                try value(name, of: values, at: path(key) + "[\(index)]")
            })
    }

    /// One of the values, by its name.
    func choice<Value: Hashable & CustomStringConvertible>(_ values: Set<Value>, _ key: Key) throws -> Value? {
        try optional(String.self, key).map { try value($0, of: values, at: path(key)) }
    }

    private func value<Value: Hashable & CustomStringConvertible>(
        _ name: String, of values: Set<Value>, at path: String
    ) throws -> Value {
        guard let value = values.first(where: { $0.description == name }) else {
            let code: SecurityError.Code = Value.self == ChainRule.self ? .unknownChainRule : .invalidPolicyFile
            throw SecurityError(code, "\"\(name.oneLine)\" is not a known name.", path: path)
        }
        return value
    }

    func seconds(_ key: Key) throws -> Duration? {
        guard let seconds = try optional(Double.self, key) else { return nil }
        guard let duration = Duration(codedSeconds: seconds) else {
            throw SecurityError(.invalidPolicyFile, "The number of seconds is out of range.", path: path(key))
        }
        return duration
    }
}
