public import FoundationEssentials

/// A security policy as a file says it, in JSON.
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
/// Requests in clear text may go to the hosts of a rule that has `"trust"` `"system"` or `"systemAndAnchors"`, as is the
/// default, and no pins that are enforced; and to other hosts unless they are refused (``SecurityPolicy/allowsCleartext(to:)``).
///
/// It is read strictly: a key that this version does not know, a key that stands twice, a value of another kind, and another
/// version are errors that name their place. ``SecurityPolicyFile`` makes a policy of it.
public struct SecurityPolicyDocument: Sendable, Hashable, Codable {
    /// The version that this release reads and writes.
    public static let currentVersion = 1

    /// What is said of hosts without a rule.
    public enum OtherHosts: String, Sendable, Hashable, CaseIterable {
        /// The system's store judges them.
        case systemTrust
        /// They are refused.
        case refuse
    }

    /// Words for whoever reads the file.
    public var comment: String?
    /// Hosts without a rule; nil for the default, the system's store. In a file that another one includes it is an error.
    public var otherHosts: OtherHosts?
    /// The rules, in any order: the most specific one for a host decides.
    public var rules: [Rule]
    /// Files whose rules are added, by paths that are relative to this file's folder.
    public var includes: [String]

    /// Makes a document.
    public init(
        rules: [Rule] = [], otherHosts: OtherHosts? = nil, includes: [String] = [], comment: String? = nil
    ) {
        self.rules = rules
        self.otherHosts = otherHosts
        self.includes = includes
        self.comment = comment
    }

    /// Reads JSON, in UTF-8, of up to a mebibyte.
    ///
    /// Fails with ``SecurityError/Code/invalidPolicyFile``, ``SecurityError/Code/unknownPolicyVersion``,
    /// ``SecurityError/Code/unknownPolicyKey`` or ``SecurityError/Code/missingPolicyKey``; ``SecurityError/path`` says where.
    public init(json: Data) throws(SecurityError) {
        self = try PolicyDecoding.document(json)
    }

    /// The document in JSON, its keys sorted, what has its default left out.
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

    /// Reads a document as ``init(json:)`` does, but for keys that stand twice.
    public init(from decoder: any Decoder) throws {
        let object = try PolicyObject<Key>(decoder)
        // A file of another version may have other keys; that it is of another version says more.
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

    /// Writes a document of the current version.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.currentVersion, forKey: .version)
        try container.encodeIfPresent(comment, forKey: .comment)
        try container.encodeIfPresent(otherHosts?.rawValue, forKey: .otherHosts)
        try container.encode(rules, forKey: .rules)
        if !includes.isEmpty { try container.encode(includes, forKey: .includes) }
    }
}
