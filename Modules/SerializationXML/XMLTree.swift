import CLibXML2
public import FoundationEssentials

/// An XML document as a tree of values.
public struct XMLTree: Sendable, Hashable {
    /// The root element.
    public var root: Element

    /// Creates a document.
    public init(root: Element) { self.root = root }

    /// A node in an element.
    public enum Node: Sendable, Hashable {
        /// An element.
        case element(Element)
        /// A text; adjacent texts and CDATA sections are joined.
        case text(String)
    }

    /// An element with its name, attributes and content. Comments and processing instructions are omitted.
    public struct Element: Sendable, Hashable {
        /// The name without its prefix.
        public var name: String
        /// The namespace; nil if there is none.
        public var namespace: String?
        /// The attributes by their names as written.
        public var attributes: [String: String]
        /// The namespaces of prefixed attributes, by their names as written.
        ///
        /// An attribute without a prefix has no namespace, even if its element has one (Namespaces in XML 1.0, section
        /// 6.2).
        public var attributeNamespaces: [String: String]
        /// The nodes in order.
        public var children: [Node]

        /// Creates an element.
        public init(
            _ name: String,
            namespace: String? = nil,
            attributes: [String: String] = [:],
            attributeNamespaces: [String: String] = [:],
            children: [Node] = []
        ) {
            self.name = name
            self.namespace = namespace
            self.attributes = attributes
            self.attributeNamespaces = attributeNamespaces
            self.children = children
        }

        /// The child elements.
        public var elements: [Element] {
            children.compactMap { if case .element(let element) = $0 { element } else { nil } }
        }

        /// The first child element with a name.
        public subscript(name: String) -> Element? { elements.first { $0.name == name } }

        /// The value of the attribute with a name and a namespace, whatever its prefix.
        public func attribute(_ name: XMLName) -> String? {
            guard let namespace = name.namespace else {
                return attributeNamespaces[name.localName] == nil ? attributes[name.localName] : nil
            }
            let written = attributeNamespaces.first { entry in
                entry.value == namespace && entry.key.split(separator: ":").last.map(String.init) == name.localName
            }
            return written.flatMap { attributes[$0.key] }
        }

        /// The text within this element at any depth, in order.
        public var text: String {
            var text = ""
            for child in children {
                switch child {
                case .element(let element): text += element.text
                case .text(let part): text += part
                }
            }
            return text
        }
    }
}

/// Builds a tree from events.
struct XMLTreeBuilder {
    private var open: [XMLTree.Element] = []
    private var text = ""
    private(set) var root: XMLTree.Element?

    mutating func take(_ event: XMLEvent, attributeNamespaces: [String: String]) {
        switch event {
        case .startElement(let name, let attributes):
            flushText()
            open.append(
                XMLTree.Element(
                    name.localName, namespace: name.namespace, attributes: attributes,
                    attributeNamespaces: attributeNamespaces))
        case .endElement: endElement()
        case .text(let part), .cdata(let part): text += part
        case .comment, .processingInstruction: break
        }
    }

    private mutating func endElement() {
        flushText()
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(.element(element))
        }
    }

    private mutating func flushText() {
        guard !text.isEmpty, !open.isEmpty else { return }
        open[open.count - 1].children.append(.text(text))
        text = ""
    }
}

extension XMLTree {
    /// Parses a document.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - charset: The charset of `Content-Type`, if any. A byte order mark has priority over it, and it over the
    ///     document's declaration (RFC 7303, section 3.2).
    ///   - options: The limits for parsing.
    /// - Throws: ``XMLSyntaxError``.
    public init(
        parsing data: Data, charset: String? = nil, options: XMLParsingOptions = XMLParsingOptions()
    ) throws(XMLSyntaxError) {
        var builder = XMLTreeBuilder()
        do {
            try XMLEventParser(options: options).read(data, charset: charset) { event, spelling in
                builder.take(event, attributeNamespaces: spelling.attributeNamespaces)
            }
        } catch {
            throw error as? XMLSyntaxError ?? XMLSyntaxError(kind: .malformed, line: 0)
        }
        guard let root = builder.root else { throw XMLSyntaxError(kind: .malformed, line: 0) }
        self.init(root: root)
    }
}

/// Interns the names and namespaces of a document.
///
/// libxml2 keeps one copy of each while it reads the document, so that a pointer identifies it. Without the table, a
/// long namespace would be copied for each element.
struct XMLNameTable {
    private struct QualifiedName: Hashable {
        let prefix: UnsafePointer<xmlChar>
        let localName: UnsafePointer<xmlChar>
    }

    private var strings: [UnsafePointer<xmlChar>: String] = [:]
    private var qualified: [QualifiedName: String] = [:]

    /// The string for a pointer into libxml2's dictionary.
    mutating func string(_ pointer: UnsafePointer<xmlChar>) -> String {
        if let known = strings[pointer] { return known }
        let string = String(cString: pointer)
        strings[pointer] = string
        return string
    }

    /// A qualified name as written.
    mutating func string(prefix: UnsafePointer<xmlChar>?, localName: UnsafePointer<xmlChar>) -> String {
        guard let prefix else { return string(localName) }
        let name = QualifiedName(prefix: prefix, localName: localName)
        if let known = qualified[name] { return known }
        let string = "\(string(prefix)):\(string(localName))"
        qualified[name] = string
        return string
    }
}
