/// What a check of a policy file found.
public struct PolicyFinding: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The kind of finding. New ones may be added.
    public struct Kind: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The kind's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Reads the name.
        public init(from decoder: any Decoder) throws {
            description = try decoder.singleValueContainer().decode(String.self)
        }

        /// Writes the name.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }

        /// One key alone is pinned: who loses it locks every client out (RFC 7469, 2.5).
        public static let noBackupPin = Kind("noBackupPin")
        /// The text is no pin: not `sha256/` and the Base64 of 32 bytes.
        public static let malformedPin = Kind("malformedPin")
        /// The pin is a pin in form, and the digest of no key: all its bytes are the same, or it is that of nothing.
        public static let impossiblePin = Kind("impossiblePin")
        /// The pin stands twice.
        public static let repeatedPin = Kind("repeatedPin")
        /// The pins expire soon.
        public static let expiryNear = Kind("expiryNear")
        /// The pins have expired.
        public static let expired = Kind("expired")
        /// No host can come to this rule: another has the same pattern, or others have all its addresses.
        public static let unreachableRule = Kind("unreachableRule")
        /// The wildcard stands before a suffix under which strangers can register names.
        public static let publicSuffixPattern = Kind("publicSuffixPattern")
        /// The text is no host pattern.
        public static let malformedPattern = Kind("malformedPattern")
        /// The rule's anchors cannot be read.
        public static let unreadableAnchors = Kind("unreadableAnchors")
        /// An anchor says what an authority's own certificate cannot mean (``ChainRule/flawedAnchor``).
        public static let flawedAnchor = Kind("flawedAnchor")
        /// Rules for chains are not enforced that the default profile has.
        public static let lenientProfile = Kind("lenientProfile")
        /// The rule's keys contradict each other, or one is missing.
        public static let contradictoryRule = Kind("contradictoryRule")
    }

    /// Whether a policy can be made all the same.
    public enum Severity: String, Sendable, Hashable, Codable {
        /// It cannot be made.
        case error
        /// It can, and will not do what it should, now or one day.
        case warning
    }

    /// The kind of finding.
    public var kind: Kind
    /// Whether a policy can be made all the same.
    public var severity: Severity
    /// The file's path; nil for a document that was made in code.
    public var file: String?
    /// Where in the file, written `rules[0].pins[1]`.
    public var path: String
    /// One line that a person can act on.
    public var message: String

    /// Severity, place, kind and message.
    public var description: String {
        (file.map { $0.oneLine + ": " } ?? "") + "\(path): \(severity.rawValue): \(message) [\(kind)]"
    }
}
