internal import LinnetSecurity

extension SecurityPolicyFile {
    /// A problem that a check of a policy file found.
    public struct Finding: Sendable, Hashable, Codable, CustomStringConvertible {
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

            /// Only one key is pinned: losing it locks every client out (RFC 7469, 2.5).
            public static let noBackupPin = Kind("noBackupPin")
            /// The text is not a pin: `sha256/` followed by the Base64 of 32 bytes.
            public static let malformedPin = Kind("malformedPin")
            /// The pin cannot be the digest of a key: all its bytes are equal, or it is the digest of empty input.
            public static let impossiblePin = Kind("impossiblePin")
            /// The pin is repeated.
            public static let repeatedPin = Kind("repeatedPin")
            /// The pins expire soon.
            public static let expiryNear = Kind("expiryNear")
            /// The pins have expired.
            public static let expired = Kind("expired")
            /// The rule can never apply: another rule has the same pattern, or others cover all its addresses.
            public static let unreachableRule = Kind("unreachableRule")
            /// The wildcard is directly below a suffix under which anyone can register names.
            public static let publicSuffixPattern = Kind("publicSuffixPattern")
            /// The text is not a host pattern.
            public static let malformedPattern = Kind("malformedPattern")
            /// The rule's anchors or pinned certificates cannot be read.
            public static let unreadableAnchors = Kind("unreadableAnchors")
            /// An anchor violates `ChainRule.flawedAnchor`.
            public static let flawedAnchor = Kind("flawedAnchor")
            /// The profile leaves out rules of the default profile.
            public static let lenientProfile = Kind("lenientProfile")
            /// The rule accepts servers that do not prove who they are, or allows clear text.
            public static let insecureRule = Kind("insecureRule")
            /// The rule's keys contradict each other, or one is missing.
            public static let contradictoryRule = Kind("contradictoryRule")
        }

        /// Whether a policy can still be made.
        public enum Severity: String, Sendable, Hashable, Codable {
            /// The policy cannot be made.
            case error
            /// The policy is valid, but will not work as intended, now or later.
            case warning
        }

        /// The kind of finding.
        public var kind: Kind
        /// The severity.
        public var severity: Severity
        /// The path of the file; nil for a document made in code.
        public var file: String?
        /// The line in the file, from 1; nil for a document made in code.
        public var line: Int?
        /// The location in the file, such as `rules[0].pins[1]`.
        public var path: String
        /// A sentence with the finding and its remedy.
        public var message: String

        /// Location, severity, message and kind.
        public var description: String {
            PolicyPlace(file: file, line: line, path: path).prefix + "\(severity.rawValue): \(message) [\(kind)]"
        }
    }
}
