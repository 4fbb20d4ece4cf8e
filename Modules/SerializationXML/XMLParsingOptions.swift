public import FoundationEssentials

/// The limits of what is read as XML.
///
/// Two things are not options. Nothing outside the document is ever loaded, and a document that declares entities is
/// refused: a few lines of them can grow to gigabytes.
public struct XMLParsingOptions: Sendable, Hashable, Codable {
    /// How deep elements may be nested; the default is 256, the highest is 1024.
    public var maximumDepth: Int {
        // Decoding sets what is stored, whatever it is.
        get { Self.clamp(depth, to: 1024) }
        set { depth = Self.clamp(newValue, to: 1024) }
    }
    /// How many elements and attributes a document may have, declarations of namespaces included; the default is a
    /// million.
    public var maximumNodes: Int
    /// How many bytes texts and attributes may have in all, as a multiple of the document's; the default is 4.
    ///
    /// A text has up to three times as many bytes in UTF-8 as in the encoding that it came in. What goes beyond comes
    /// from a document type that gives elements attributes by default.
    public var maximumExpansion: Int
    /// How many bytes a document may have; the default is 256 MiB, the highest is 1,000,000,000.
    public var maximumBytes: Int {
        get { Self.clamp(bytes, to: 1_000_000_000) }
        set { bytes = Self.clamp(newValue, to: 1_000_000_000) }
    }
    /// How many attributes an element may have, and how many namespaces may be declared at once; the default is 1000,
    /// the highest is 10,000.
    ///
    /// So many default values a document type may declare, and so many alternatives one declaration may have. Each of
    /// these can cost the parser the square of its number.
    public var maximumAttributes: Int {
        get { Self.clamp(attributes, to: 10_000) }
        set { attributes = Self.clamp(newValue, to: 10_000) }
    }
    /// How many bytes of UTF-8 a name may have, with its prefix; the default is 1000, the highest is 50,000.
    public var maximumNameBytes: Int {
        get { Self.clamp(nameBytes, to: 50_000) }
        set { nameBytes = Self.clamp(newValue, to: 50_000) }
    }
    /// How many bytes of UTF-8 a text between two tags, the value of an attribute, a CDATA section, a comment or a
    /// processing instruction may have; the default is 64 MiB.
    public var maximumTextBytes: Int

    private var depth: Int
    private var bytes: Int
    private var attributes: Int
    private var nameBytes: Int

    /// Creates options.
    public init(
        maximumDepth: Int = 256, maximumNodes: Int = 1_000_000, maximumExpansion: Int = 4,
        maximumBytes: Int = 256 << 20, maximumAttributes: Int = 1000, maximumNameBytes: Int = 1000,
        maximumTextBytes: Int = 64 << 20
    ) {
        depth = Self.clamp(maximumDepth, to: 1024)
        bytes = Self.clamp(maximumBytes, to: 1_000_000_000)
        attributes = Self.clamp(maximumAttributes, to: 10_000)
        nameBytes = Self.clamp(maximumNameBytes, to: 50_000)
        self.maximumNodes = maximumNodes
        self.maximumExpansion = maximumExpansion
        self.maximumTextBytes = maximumTextBytes
    }

    private static func clamp(_ value: Int, to highest: Int) -> Int { min(max(value, 1), highest) }

    /// How many bytes of text a document of so many may have.
    func budget(for count: Int) -> Int {
        let (product, overflowed) = count.multipliedReportingOverflow(by: max(maximumExpansion, 1))
        return overflowed ? .max : product
    }
}

/// Where and why a text was not read as XML.
public struct XMLSyntaxError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, in words.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The text is not well-formed.
        public static let malformed = Kind("malformed")
        /// Elements are nested deeper than the limit.
        public static let nestedTooDeep = Kind("nested too deep")
        /// There are more elements and attributes than the limit, or more attributes, namespaces or declarations in
        /// one place.
        public static let tooManyNodes = Kind("too many nodes")
        /// The document, a text or a name is larger than the limit.
        public static let tooLarge = Kind("too large")
        /// The texts are larger than the document that they come from allows.
        public static let expandsTooMuch = Kind("expands too much")
        /// The document is in an encoding that is not read here; ``XMLSyntaxError/detail`` names it.
        public static let unsupportedEncoding = Kind("unsupported encoding")
        /// The document declares entities.
        public static let entityDeclaration = Kind("entity declaration")
        /// The document refers to an entity that it leaves to an external document type, which is not loaded.
        public static let entityReference = Kind("entity reference")
    }

    /// What is wrong.
    public let kind: Kind
    /// The line of where it was seen, from 1; 0 if it is about the whole document.
    public let line: Int

    /// More about it in one line, such as the limit, the encoding, or what libxml2 says; nil if there is no more to say.
    ///
    /// It may quote the document, and differs from one version of libxml2 to another.
    public let detail: String?

    init(kind: Kind, line: Int, detail: String? = nil) {
        self.kind = kind
        self.line = line
        self.detail = detail
    }

    /// One sentence that says what is wrong, and where.
    public var description: String { "The text is not acceptable XML: \(reason)." }
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// What is wrong, and where, for a sentence around it.
    var reason: String {
        let detail = detail.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
        return "\(kind)\(line > 0 ? " at line \(line)" : "")\(detail.map { ": \($0)" } ?? "")"
    }
}
