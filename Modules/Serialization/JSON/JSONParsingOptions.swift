public import FoundationEssentials

/// How a JSON text is read into a ``JSONValue``.
public struct JSONParsingOptions: Sendable, Hashable, Codable {
    /// How deep arrays and objects may be nested; the default is 512, the highest is 1024.
    ///
    /// The ceiling keeps hostile texts from using up a thread's stack, when the tree is read and when it is released.
    public var maximumDepth: Int {
        get { depth }
        set { depth = Self.clamp(newValue) }
    }
    /// Whether the value at the top may be something else than an object or an array; the default is true (RFC 8259).
    public var allowsFragments: Bool
    /// What becomes of a name that an object has twice; the default is ``DuplicateNames/last``.
    public var duplicateNames: DuplicateNames

    private var depth: Int

    /// Creates options.
    public init(
        maximumDepth: Int = 512,
        allowsFragments: Bool = true,
        duplicateNames: DuplicateNames = .last
    ) {
        depth = Self.clamp(maximumDepth)
        self.allowsFragments = allowsFragments
        self.duplicateNames = duplicateNames
    }

    private static func clamp(_ depth: Int) -> Int { min(max(depth, 0), 1024) }

    /// What becomes of a name that an object has twice (RFC 8259, section 4, leaves it open).
    ///
    /// Two readers that choose differently see two different documents; whoever signs or filters JSON refuses them.
    public struct DuplicateNames: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case last, first, refused }
        let kind: Kind

        /// The last value counts, in the place of the first.
        public static let last = DuplicateNames(kind: .last)
        /// The first value counts.
        public static let first = DuplicateNames(kind: .first)
        /// The text is an error, ``JSONSyntaxError/Kind/duplicateName``.
        public static let refused = DuplicateNames(kind: .refused)
    }
}

extension JSONParsingOptions {
    private enum CodingKeys: String, CodingKey { case maximumDepth, allowsFragments, duplicateNames }

    /// Reads options; what is missing has its default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            maximumDepth: try container.decodeIfPresent(Int.self, forKey: .maximumDepth) ?? 512,
            allowsFragments: try container.decodeIfPresent(Bool.self, forKey: .allowsFragments) ?? true,
            duplicateNames: try container.decodeIfPresent(DuplicateNames.self, forKey: .duplicateNames) ?? .last
        )
    }

    /// Writes the options.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(depth, forKey: .maximumDepth)
        try container.encode(allowsFragments, forKey: .allowsFragments)
        try container.encode(duplicateNames, forKey: .duplicateNames)
    }
}

/// Where and why a text is not JSON.
public struct JSONSyntaxError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, in words.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The text ends inside a value.
        public static let unexpectedEnd = Kind("unexpected end")
        /// A character that cannot stand here.
        public static let unexpectedCharacter = Kind("unexpected character")
        /// A number that does not follow the grammar (RFC 8259, section 6).
        public static let invalidNumber = Kind("invalid number")
        /// An unknown escape in a string, or half a surrogate pair.
        public static let invalidEscape = Kind("invalid escape")
        /// A string holds an unescaped control character.
        public static let controlCharacter = Kind("control character in a string")
        /// A string is not UTF-8.
        public static let invalidUTF8 = Kind("invalid UTF-8")
        /// Arrays and objects are nested deeper than the limit.
        public static let nestedTooDeep = Kind("nested too deep")
        /// An object has a name twice, and the options refuse that.
        public static let duplicateName = Kind("duplicate name")
        /// Something follows the value.
        public static let trailingCharacters = Kind("characters after the value")
        /// The value at the top is neither an object nor an array, and the options want one.
        public static let fragment = Kind("neither an object nor an array")
    }

    /// What is wrong.
    public let kind: Kind
    /// The offset in bytes of where it was seen.
    public let offset: Int

    /// One sentence that says what is wrong, and where.
    public var description: String { "The text is not JSON: \(reason)." }
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// What is wrong, and where, for a sentence around it.
    var reason: String { "\(kind) at byte \(offset)" }
}
