public import FoundationEssentials

/// How a property list is read.
public struct PropertyListParsingOptions: Sendable, Hashable, Codable {
    /// How deep arrays and dictionaries may be nested; the default and the highest is 512.
    public var maximumDepth: Int {
        // Decoding sets what is stored, whatever it is.
        get { Self.clamp(depth) }
        set { depth = Self.clamp(newValue) }
    }
    /// How many times as large as its bytes the tree may become; the default is 16.
    ///
    /// A binary property list can use one object in many places: a few hundred bytes of arrays within arrays stand for
    /// more than any memory holds. Each value counts as one byte, and texts and data as many as they have.
    public var maximumExpansion: Int

    private var depth: Int

    /// Creates options.
    public init(maximumDepth: Int = 512, maximumExpansion: Int = 16) {
        depth = Self.clamp(maximumDepth)
        self.maximumExpansion = maximumExpansion
    }

    private static func clamp(_ depth: Int) -> Int { min(max(depth, 0), 512) }

    /// What the tree of so many bytes may take.
    func budget(for count: Int) -> Int {
        let (product, overflowed) = count.multipliedReportingOverflow(by: max(maximumExpansion, 1))
        return overflowed ? .max : product
    }
}

/// Where and why bytes are not a property list.
public struct PropertyListSyntaxError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, in words.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The bytes are not of the format that they begin as.
        public static let malformed = Kind("malformed")
        /// The bytes are neither XML nor binary.
        public static let unknownFormat = Kind("neither XML nor a binary property list")
        /// The value is one that property lists of Apple's archivers have, and that stands for nothing here.
        public static let unsupportedValue = Kind("unsupported value")
        /// The document declares entities.
        public static let entityDeclaration = Kind("entity declaration")
        /// A dictionary has two keys that Swift takes for one, since they are canonically equivalent.
        public static let equivalentKeys = Kind("canonically equivalent keys")
        /// Arrays and dictionaries are nested deeper than the limit, or hold themselves.
        public static let nestedTooDeep = Kind("nested too deep")
        /// Objects are used so often that the tree would be larger than the limit.
        public static let expandsTooMuch = Kind("expands too much")
    }

    /// What is wrong.
    public let kind: Kind
    /// The offset in bytes of where it was seen.
    public let offset: Int

    /// One sentence that says what is wrong, and where.
    public var description: String { "The bytes are not an acceptable property list: \(reason)." }
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// What is wrong, and where, for a sentence around it.
    var reason: String { "\(kind) at byte \(offset)" }
}
