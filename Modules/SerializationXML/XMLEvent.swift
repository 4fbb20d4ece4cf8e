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
