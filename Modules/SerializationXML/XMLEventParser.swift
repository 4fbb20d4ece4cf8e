public import FoundationEssentials

/// Reads a document from its beginning to its end, and tells what it meets: for what is too large for a tree.
///
/// ```swift
/// var titles = 0
/// try XMLEventParser().parse(data) { event in
///     if case .startElement(let name, _) = event, name.localName == "title" { titles += 1 }
/// }
/// ```
public struct XMLEventParser: Sendable, Hashable, Codable {
    /// The limits of what is read.
    public var options: XMLParsingOptions

    /// Creates a parser.
    public init(options: XMLParsingOptions = XMLParsingOptions()) { self.options = options }

    /// Reads a document, and calls `handler` for each event, in order and on the caller's thread.
    ///
    /// What comes before an error has been told by then.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - charset: What `Content-Type` says of the encoding, if anything. A byte order mark counts for more, and the
    ///     document's own declaration for less (RFC 7303, 3.2).
    ///   - handler: What takes the events.
    /// - Throws: ``XMLSyntaxError``, or what the handler throws, which ends the reading.
    public func parse(_ data: Data, charset: String? = nil, _ handler: (XMLEvent) throws -> Void) throws {
        try read(data, charset: charset) { event, _ in try handler(event) }
    }

    /// The same, with the namespaces of attributes beside the events.
    func read(_ data: Data, charset: String?, _ handler: (XMLEvent, [String: String]) throws -> Void) throws {
        try data.withUnsafeBytes { bytes in
            try withoutActuallyEscaping(handler) { handler in
                try XMLDocumentReader(bytes, charset: charset, options: options, handler: handler).read()
            }
        }
    }
}

/// What ``XMLEventParser`` meets in a document, in order.
public enum XMLEvent: Sendable, Hashable {
    /// An element begins. Its content and its end follow, also if it is written as one tag.
    case startElement(XMLName, attributes: [String: String])
    /// The element that began last, and has not ended, ends.
    case endElement(XMLName)
    /// A text, or a part of one; entities of XML's own are resolved.
    case text(String)
    /// The text of a CDATA section.
    case cdata(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case processingInstruction(target: String, data: String?)
}

/// An element's name and the namespace that it is in (Namespaces in XML 1.0).
public struct XMLName: Sendable, Hashable, CustomStringConvertible {
    /// The name without its prefix.
    public let localName: String
    /// The namespace; nil if the name is in none.
    public let namespace: String?

    /// Creates a name.
    public init(_ localName: String, namespace: String? = nil) {
        self.localName = localName
        self.namespace = namespace
    }

    /// The name, with the namespace in braces if there is one.
    public var description: String { namespace.map { "{\($0)}\(localName)" } ?? localName }
}
