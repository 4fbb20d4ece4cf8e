public import FoundationEssentials
public import LinnetSecurity

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
/// (`SecurityPolicy.allowsCleartext(to:)`).
///
/// A document can also hold a policy from the factories of this module, with certificates as PEM text:
///
/// ```swift
/// let data = try SecurityPolicyDocument(policy).json()
/// let same = try SecurityPolicyFile(SecurityPolicyDocument(json: data)).makePolicy()
/// ```
///
/// Decoding is strict: unknown and repeated keys, values of another type and other versions are errors that carry their
/// location. ``SecurityPolicyFile`` makes a policy from a document.
public struct SecurityPolicyDocument: Sendable, Hashable, Codable {
    /// The version that this release reads and writes.
    public static let currentVersion = 1

    /// How hosts without a rule are treated.
    public enum OtherHosts: Sendable, Hashable {
        /// The system's store evaluates them.
        case systemTrust
        /// They are refused.
        case refuse
        /// A rule without hosts evaluates them.
        case rule(Rule)
    }

    /// A comment for readers of the file.
    public var comment: String?
    /// How hosts without a rule are treated; nil for the default, the system's store. Not allowed in an included file.
    public var otherHosts: OtherHosts?
    /// The rules in any order; the most specific one for a host applies.
    public var rules: [Rule]
    /// The files to include, with paths relative to this file's directory. Their rules are added.
    public var includes: [String]
    /// Whether TLS sessions may be resumed (`SecurityPolicy.allowsSessionResumption`); nil for the default, true. Not
    /// allowed in an included file.
    public var allowsSessionResumption: Bool?

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
    /// - Throws: `SecurityError.Code.invalidPolicyFile`, `SecurityError.Code.unknownPolicyVersion`,
    ///   `SecurityError.Code.unknownPolicyKey` or `SecurityError.Code.missingPolicyKey`, with the location in
    ///   `SecurityError.path` and `SecurityError.line`.
    public init(json: Data) throws(SecurityError) {
        self = try PolicyDecoding.document(json)
    }

    /// Encodes the document in JSON with sorted keys and without default values.
    ///
    /// - Throws: `SecurityError.Code.unencodablePolicy` for more than one mebibyte, which could not be read.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let json = try encoder.encode(self)
        guard json.count <= PolicyDecoding.largestFile else {
            throw SecurityError(
                .unencodablePolicy,
                "The policy has more than \(PolicyDecoding.largestFile) bytes in JSON; name files of anchors instead.")
        }
        return json
    }

    enum Key: String, CodingKey, CaseIterable {
        case version
        case comment
        case otherHosts
        case rules
        case includes
        case allowsSessionResumption
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
        otherHosts = try object.optional(OtherHosts.self, .otherHosts)
        rules = try object.optional([Rule].self, .rules) ?? []
        includes = try object.optional([String].self, .includes) ?? []
        allowsSessionResumption = try object.optional(Bool.self, .allowsSessionResumption)
    }

    /// Encodes a document of the current version.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.currentVersion, forKey: .version)
        try container.encodeIfPresent(comment, forKey: .comment)
        try container.encodeIfPresent(otherHosts, forKey: .otherHosts)
        try container.encode(rules, forKey: .rules)
        if !includes.isEmpty { try container.encode(includes, forKey: .includes) }
        try container.encodeIfPresent(allowsSessionResumption, forKey: .allowsSessionResumption)
    }
}

extension SecurityPolicyDocument.OtherHosts: Codable {
    private enum Name: String, CaseIterable {
        case systemTrust
        case refuse
    }

    /// Decodes a name or a rule without hosts.
    public init(from decoder: any Decoder) throws {
        guard let text = try? decoder.singleValueContainer().decode(String.self) else {
            self = .rule(try SecurityPolicyDocument.NestedRule(from: decoder).rule)
            return
        }
        switch Name(rawValue: text) {
        case .systemTrust: self = .systemTrust
        case .refuse: self = .refuse
        case nil: throw PolicyDecoding.unknownChoice(text, Name.self, at: decoder.codingPath)
        }
    }

    /// Encodes a name or a rule without hosts.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .systemTrust: try container.encode(Name.systemTrust.rawValue)
        case .refuse: try container.encode(Name.refuse.rawValue)
        case .rule(let rule): try container.encode(SecurityPolicyDocument.NestedRule(rule: rule))
        }
    }
}
