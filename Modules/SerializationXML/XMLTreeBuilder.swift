public import FoundationEssentials

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
    /// Reads a document.
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - charset: What `Content-Type` says of the encoding, if anything. A byte order mark counts for more, and the
    ///     document's own declaration for less (RFC 7303, 3.2).
    ///   - options: The limits of what is read.
    /// - Throws: ``XMLSyntaxError``.
    public init(
        parsing data: Data, charset: String? = nil, options: XMLParsingOptions = XMLParsingOptions()
    ) throws(XMLSyntaxError) {
        var builder = XMLTreeBuilder()
        do {
            try XMLEventParser(options: options).read(data, charset: charset) { event, namespaces in
                builder.take(event, attributeNamespaces: namespaces)
            }
        } catch {
            throw error as? XMLSyntaxError ?? XMLSyntaxError(kind: .malformed, line: 0)
        }
        guard let root = builder.root else { throw XMLSyntaxError(kind: .malformed, line: 0) }
        self.init(root: root)
    }
}
