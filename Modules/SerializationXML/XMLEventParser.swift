public import FoundationEssentials

/// Parses a document into events, for documents that are too large for a tree.
///
/// ```swift
/// var titles = 0
/// try XMLEventParser().parse(data) { event in
///     if case .startElement(let name, _) = event, name.localName == "title" { titles += 1 }
/// }
/// ```
public struct XMLEventParser: Sendable, Hashable, Codable {
    /// The limits for parsing.
    public var options: XMLParsingOptions

    /// Creates a parser.
    public init(options: XMLParsingOptions = XMLParsingOptions()) { self.options = options }

    /// Parses a document, and calls `handler` for each event, in order and on the caller's thread. Events before an
    /// error are delivered.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - charset: The charset of `Content-Type`, if any. A byte order mark has priority over it, and it over the
    ///     document's declaration (RFC 7303, section 3.2).
    ///   - handler: Handles an event.
    /// - Throws: ``XMLSyntaxError``, or the handler's error, which ends parsing.
    public func parse(_ data: Data, charset: String? = nil, _ handler: (XMLEvent) throws -> Void) throws {
        try read(data, charset: charset) { event, _ in try handler(event) }
    }

    /// Passes the spelling of tags along with the events.
    ///
    /// - Parameter isSpelled: Whether the spelling has prefixes and declarations, and not only the namespaces of
    ///   attributes.
    package func read(
        _ data: Data, charset: String?, isSpelled: Bool = false, _ handler: (XMLEvent, XMLTagSpelling) throws -> Void
    ) throws {
        try data.withUnsafeBytes { bytes in
            try withoutActuallyEscaping(handler) { handler in
                try XMLDocumentReader(
                    bytes, charset: charset, options: options, isSpelled: isSpelled, handler: handler
                ).read()
            }
        }
    }
}

/// An event of ``XMLEventParser``.
public enum XMLEvent: Sendable, Hashable {
    /// The beginning of an element. Its content and its end follow, even for an empty-element tag.
    case startElement(XMLName, attributes: [String: String])
    /// The end of the innermost open element.
    case endElement(XMLName)
    /// A text or a part of one, with predefined entities resolved.
    case text(String)
    /// The text of a CDATA section.
    case cdata(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case processingInstruction(target: String, data: String?)
}

/// The name and the namespace of an element (Namespaces in XML 1.0).
public struct XMLName: Sendable, Hashable, CustomStringConvertible {
    /// The name without its prefix.
    public let localName: String
    /// The namespace; nil if there is none.
    public let namespace: String?

    /// Creates a name.
    public init(_ localName: String, namespace: String? = nil) {
        self.localName = localName
        self.namespace = namespace
    }

    /// The name, with the namespace in braces before it.
    public var description: String { namespace.map { "{\($0)}\(localName)" } ?? localName }
}

/// The spelling of a tag, which its event does not have.
package struct XMLTagSpelling: Sendable {
    /// The prefix of the element.
    package var prefix: String?
    /// The namespaces that the tag declares, in order; the prefix of the default one is empty.
    package var declarations: [(prefix: String, namespace: String)] = []
    /// The namespaces of prefixed attributes, by their names as written.
    package var attributeNamespaces: [String: String] = [:]
    /// The line of the event, from 1.
    package var line = 0
}
