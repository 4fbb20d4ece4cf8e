public import FoundationEssentials

extension PropertyListValue {
    /// The limits for parsing a property list.
    public struct ParsingOptions: Sendable, Hashable, Codable {
        /// The maximum depth of arrays and dictionaries; the default and upper limit is 512. Exceeding it is
        /// ``PropertyListSyntaxError/Kind/nestedTooDeep``.
        public var maximumDepth: Int {
            // Decoding may have stored any number.
            get { Self.clamp(depth) }
            set { depth = Self.clamp(newValue) }
        }
        /// The maximum size of the tree, as a multiple of the bytes; the default is 16. Exceeding it is
        /// ``PropertyListSyntaxError/Kind/expandsTooMuch``.
        ///
        /// A binary property list can refer to one object many times: a few hundred bytes of nested arrays can expand
        /// beyond any memory. Each value counts as one byte, texts and data as their length.
        public var maximumExpansion: Int

        private var depth: Int

        /// Creates options.
        public init(maximumDepth: Int = 512, maximumExpansion: Int = 16) {
            depth = Self.clamp(maximumDepth)
            self.maximumExpansion = maximumExpansion
        }

        private static func clamp(_ depth: Int) -> Int { min(max(depth, 0), 512) }

        /// The maximum size of the tree for a number of bytes.
        func budget(for count: Int) -> Int {
            let (product, overflowed) = count.multipliedReportingOverflow(by: max(maximumExpansion, 1))
            return overflowed ? .max : product
        }
    }
}

/// An error in the bytes of a property list.
public struct PropertyListSyntaxError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind in words.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The bytes violate their format.
        public static let malformed = Kind("malformed")
        /// The bytes are neither XML nor binary.
        public static let unknownFormat = Kind("neither XML nor a binary property list")
        /// The value belongs to Apple's archiver, such as a UID, and has no counterpart here.
        public static let unsupportedValue = Kind("unsupported value")
        /// The document declares entities.
        public static let entityDeclaration = Kind("entity declaration")
        /// A dictionary has two canonically equivalent keys, which Swift's `String` considers equal; or, in a binary
        /// list, a key twice.
        public static let equivalentKeys = Kind("canonically equivalent keys")
        /// Arrays and dictionaries exceed the limit on nesting, or contain themselves.
        public static let nestedTooDeep = Kind("nested too deep")
        /// References to objects expand the tree beyond the limit.
        public static let expandsTooMuch = Kind("expands too much")
    }

    /// The kind of the error.
    public let kind: Kind
    /// The byte offset of the error.
    public let offset: Int

    /// One sentence with the kind and the place.
    public var description: String { "The bytes are not an acceptable property list: \(reason)." }
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// The kind and the place, for the end of a sentence.
    var reason: String { "\(kind) at byte \(offset)" }
}
