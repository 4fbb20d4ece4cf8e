public import FoundationEssentials

extension JSONValue {
    /// How a JSON text is parsed into a ``JSONValue``.
    public struct ParsingOptions: Sendable, Hashable, Codable {
        /// The maximum depth of arrays and objects; the default is 512, the upper limit 1,024. Exceeding it is
        /// ``JSONSyntaxError/Kind/nestedTooDeep``.
        ///
        /// The limit protects a thread's stack from hostile texts, when the tree is parsed and when it is released.
        public var maximumDepth: Int {
            get { depth }
            set { depth = Self.clamp(newValue) }
        }
        /// Whether the top-level value may be other than an object or an array; the default is true (RFC 8259).
        public var allowsFragments: Bool
        /// How repeated names in an object are handled; the default is ``DuplicateNames/last``.
        public var duplicateNames: DuplicateNames
        /// The maximum number of bytes of memory that the tree may take; the default is 512 MiB. Exceeding it is
        /// ``JSONSyntaxError/Kind/tooLarge``.
        ///
        /// A tree can take twenty times as much memory as its text, for example for `[1,1,1]`, so a limit on the text
        /// is not enough. The parser estimates an upper bound of the memory: arrays count with twice their length,
        /// because they grow by doubling.
        public var maximumMemory: Int

        private var depth: Int

        /// Creates options.
        public init(
            maximumDepth: Int = 512,
            allowsFragments: Bool = true,
            duplicateNames: DuplicateNames = .last,
            maximumMemory: Int = 512 << 20
        ) {
            depth = Self.clamp(maximumDepth)
            self.allowsFragments = allowsFragments
            self.duplicateNames = duplicateNames
            self.maximumMemory = maximumMemory
        }

        private static func clamp(_ depth: Int) -> Int { min(max(depth, 0), 1024) }

        /// How repeated names in an object are handled; RFC 8259, section 4, leaves it open.
        ///
        /// Readers that differ here see different documents. Refuse repeated names where JSON is signed or filtered.
        public struct DuplicateNames: Sendable, Hashable, Codable {
            enum Kind: String, Sendable, Codable { case last, first, refused }
            let kind: Kind

            /// The last value counts, at the place of the first.
            public static let last = DuplicateNames(kind: .last)
            /// The first value counts.
            public static let first = DuplicateNames(kind: .first)
            /// The text is rejected with ``JSONSyntaxError/Kind/duplicateName``.
            public static let refused = DuplicateNames(kind: .refused)
        }
    }
}

extension JSONValue.ParsingOptions {
    private enum CodingKeys: String, CodingKey {
        case maximumDepth, allowsFragments, duplicateNames, maximumMemory
    }

    /// Decodes options; missing ones have their defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            maximumDepth: try container.decodeIfPresent(Int.self, forKey: .maximumDepth) ?? 512,
            allowsFragments: try container.decodeIfPresent(Bool.self, forKey: .allowsFragments) ?? true,
            duplicateNames: try container.decodeIfPresent(DuplicateNames.self, forKey: .duplicateNames) ?? .last,
            maximumMemory: try container.decodeIfPresent(Int.self, forKey: .maximumMemory) ?? 512 << 20
        )
    }

    /// Encodes the options.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(depth, forKey: .maximumDepth)
        try container.encode(allowsFragments, forKey: .allowsFragments)
        try container.encode(duplicateNames, forKey: .duplicateNames)
        try container.encode(maximumMemory, forKey: .maximumMemory)
    }
}

/// A violation of JSON's syntax or of the parsing options.
public struct JSONSyntaxError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind in words.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The text ends inside a value.
        public static let unexpectedEnd = Kind("unexpected end")
        /// A character is not allowed at its place.
        public static let unexpectedCharacter = Kind("unexpected character")
        /// A number does not match the grammar (RFC 8259, section 6).
        public static let invalidNumber = Kind("invalid number")
        /// A string has an unknown escape or an unpaired surrogate.
        public static let invalidEscape = Kind("invalid escape")
        /// A string has an unescaped control character.
        public static let controlCharacter = Kind("control character in a string")
        /// A string is not UTF-8.
        public static let invalidUTF8 = Kind("invalid UTF-8")
        /// Arrays and objects exceed the limit on nesting.
        public static let nestedTooDeep = Kind("nested too deep")
        /// The tree exceeds the limit on memory.
        public static let tooLarge = Kind("too large")
        /// An object has a repeated name, which the options refuse.
        public static let duplicateName = Kind("duplicate name")
        /// Characters follow the value.
        public static let trailingCharacters = Kind("characters after the value")
        /// The top-level value is neither an object nor an array, which the options require.
        public static let fragment = Kind("neither an object nor an array")
    }

    /// The kind of the error.
    public let kind: Kind
    /// The byte offset of the error.
    public let offset: Int

    /// One sentence with the kind and the place.
    public var description: String { "The text is not JSON: \(reason)." }
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// The kind and the place, for the end of a sentence.
    package var reason: String { "\(kind) at byte \(offset)" }
}
