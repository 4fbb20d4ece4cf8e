public import FoundationEssentials

/// The limits for parsing XML.
///
/// Two protections are not optional: external resources are never loaded, and documents that declare entities are
/// refused, since a few lines of them can expand to gigabytes.
public struct XMLParsingOptions: Sendable, Hashable, Codable {
    /// The maximum depth of elements; the default is 256, the upper limit 1,024. Exceeding it is
    /// ``XMLSyntaxError/Kind/nestedTooDeep``.
    public var maximumDepth: Int {
        // Decoding may have stored any number.
        get { Self.clamp(depth, to: 1024) }
        set { depth = Self.clamp(newValue, to: 1024) }
    }
    /// The maximum number of elements and attributes, including namespace declarations; the default is a million.
    /// Exceeding it is ``XMLSyntaxError/Kind/tooManyNodes``.
    public var maximumNodes: Int
    /// The maximum number of bytes in texts and attributes, as a multiple of the document's; the default is 4.
    /// Exceeding it is ``XMLSyntaxError/Kind/expandsTooMuch``.
    ///
    /// Text takes up to three times as many bytes in UTF-8 as in its own encoding. Beyond that, it comes from
    /// attribute defaults in a document type.
    public var maximumExpansion: Int
    /// The maximum number of bytes in a document; the default is 256 MiB, the upper limit 1,000,000,000. Exceeding it
    /// is ``XMLSyntaxError/Kind/tooLarge``.
    public var maximumBytes: Int {
        get { Self.clamp(bytes, to: 1_000_000_000) }
        set { bytes = Self.clamp(newValue, to: 1_000_000_000) }
    }
    /// The maximum number of attributes of an element, and of namespaces in scope; the default is 1000, the upper limit
    /// 10,000. Exceeding it is ``XMLSyntaxError/Kind/tooManyNodes``.
    ///
    /// It also limits the default values in a document type, and the alternatives in a declaration, each of which can
    /// cost the parser quadratic time.
    public var maximumAttributes: Int {
        get { Self.clamp(attributes, to: 10_000) }
        set { attributes = Self.clamp(newValue, to: 10_000) }
    }
    /// The maximum number of UTF-8 bytes in a name with its prefix; the default is 1000, the upper limit 50,000.
    /// Exceeding it is ``XMLSyntaxError/Kind/tooLarge``.
    public var maximumNameBytes: Int {
        get { Self.clamp(nameBytes, to: 50_000) }
        set { nameBytes = Self.clamp(newValue, to: 50_000) }
    }
    /// The maximum number of distinct names of all kinds in a document: elements, attributes, prefixes, namespaces,
    /// instructions and declarations; the default is 30,000, the upper limit 200,000. Exceeding it is
    /// ``XMLSyntaxError/Kind/tooManyNodes``.
    ///
    /// libxml2 before 2.12 looks each name up in a table of a limited size, so that its time is quadratic in the number
    /// of distinct names.
    public var maximumDistinctNames: Int {
        get { Self.clamp(distinctNames, to: 200_000) }
        set { distinctNames = Self.clamp(newValue, to: 200_000) }
    }
    /// The maximum number of UTF-8 bytes in a text between tags, an attribute's value, a CDATA section, a comment or a
    /// processing instruction; the default is 64 MiB. Exceeding it is ``XMLSyntaxError/Kind/tooLarge``.
    public var maximumTextBytes: Int

    private var depth: Int
    private var bytes: Int
    private var attributes: Int
    private var nameBytes: Int
    private var distinctNames: Int

    /// Creates options.
    public init(
        maximumDepth: Int = 256, maximumNodes: Int = 1_000_000, maximumExpansion: Int = 4,
        maximumBytes: Int = 256 << 20, maximumAttributes: Int = 1000, maximumNameBytes: Int = 1000,
        maximumTextBytes: Int = 64 << 20, maximumDistinctNames: Int = 30_000
    ) {
        depth = Self.clamp(maximumDepth, to: 1024)
        bytes = Self.clamp(maximumBytes, to: 1_000_000_000)
        attributes = Self.clamp(maximumAttributes, to: 10_000)
        nameBytes = Self.clamp(maximumNameBytes, to: 50_000)
        distinctNames = Self.clamp(maximumDistinctNames, to: 200_000)
        self.maximumNodes = maximumNodes
        self.maximumExpansion = maximumExpansion
        self.maximumTextBytes = maximumTextBytes
    }

    private static func clamp(_ value: Int, to highest: Int) -> Int { min(max(value, 1), highest) }

    /// The number of bytes of text that a document of this size may have.
    func budget(for count: Int) -> Int {
        let (product, overflowed) = count.multipliedReportingOverflow(by: max(maximumExpansion, 1))
        return overflowed ? .max : product
    }
}

extension XMLParsingOptions {
    private enum CodingKeys: String, CodingKey {
        case maximumNodes, maximumExpansion, maximumTextBytes, depth, bytes, attributes, nameBytes, distinctNames
    }

    /// Decodes options; missing ones have their defaults.
    public init(from decoder: any Decoder) throws {
        self.init()
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func read(_ key: CodingKeys, _ present: Int) throws -> Int {
            try container.decodeIfPresent(Int.self, forKey: key) ?? present
        }
        maximumNodes = try read(.maximumNodes, maximumNodes)
        maximumExpansion = try read(.maximumExpansion, maximumExpansion)
        maximumTextBytes = try read(.maximumTextBytes, maximumTextBytes)
        depth = try read(.depth, depth)
        bytes = try read(.bytes, bytes)
        attributes = try read(.attributes, attributes)
        nameBytes = try read(.nameBytes, nameBytes)
        distinctNames = try read(.distinctNames, distinctNames)
    }
}

/// An error in a document, or a limit that it exceeds.
public struct XMLSyntaxError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The kind in words.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The text is not well-formed.
        public static let malformed = Kind("malformed")
        /// Elements exceed the limit on nesting.
        public static let nestedTooDeep = Kind("nested too deep")
        /// Elements and attributes exceed the limit, or the distinct names in a document, or the attributes, namespaces
        /// or declarations in one place.
        public static let tooManyNodes = Kind("too many nodes")
        /// The document, a text or a name exceeds its limit.
        public static let tooLarge = Kind("too large")
        /// The texts exceed the limit relative to the document.
        public static let expandsTooMuch = Kind("expands too much")
        /// The encoding is not supported; ``XMLSyntaxError/detail`` names it.
        public static let unsupportedEncoding = Kind("unsupported encoding")
        /// The document declares entities.
        public static let entityDeclaration = Kind("entity declaration")
        /// The document refers to an entity of an external document type, which is not loaded.
        public static let entityReference = Kind("entity reference")
    }

    /// The kind of the error.
    public let kind: Kind
    /// The line of the error, from 1; 0 if it concerns the whole document.
    public let line: Int

    /// Details in one line, such as the limit, the encoding, or the message of libxml2; nil if there are none.
    ///
    /// They may quote the document, and depend on the version of libxml2.
    public let detail: String?

    init(kind: Kind, line: Int, detail: String? = nil) {
        self.kind = kind
        self.line = line
        self.detail = detail
    }

    /// One sentence with the kind, the line and the detail.
    public var description: String { "The text is not acceptable XML: \(reason)." }
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// The kind, the line and the detail, for the end of a sentence.
    var reason: String {
        let detail = detail.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
        return "\(kind)\(line > 0 ? " at line \(line)" : "")\(detail.map { ": \($0)" } ?? "")"
    }
}
