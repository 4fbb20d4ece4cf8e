public import FoundationEssentials

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
