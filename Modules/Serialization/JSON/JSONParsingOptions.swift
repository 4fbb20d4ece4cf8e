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
