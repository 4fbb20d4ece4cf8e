import FoundationEssentials
// XMLParser is only in FoundationXML, which builds on the whole of Foundation; that is why this module stands apart.
import FoundationXML

/// Builds a tree from the parser's events.
final class XMLTreeBuilder: XMLParserDelegate {
    private let maximumDepth: Int
    private var open: [XMLTree.Element] = []
    private var text = ""
    private var root: XMLTree.Element?
    private var failure: XMLSyntaxError?

    /// What text and attributes may still take. Without entities they take no more than the document, and twice that if
    /// it is not UTF-8.
    private var budget: Int

    private init(maximumDepth: Int, budget: Int) {
        self.maximumDepth = maximumDepth
        self.budget = budget
    }

    static func build(from data: Data, maximumDepth: Int) throws(XMLSyntaxError) -> XMLTree {
        // FoundationXML does not report the declarations themselves.
        if XMLEntityScanner.declaresEntities(data) { throw XMLSyntaxError(kind: .entityDeclaration, line: 0) }
        let builder = XMLTreeBuilder(maximumDepth: maximumDepth, budget: data.count * 2 + 1024)
        let parser = XMLParser(data: data)
        parser.shouldProcessNamespaces = true
        parser.shouldResolveExternalEntities = false
        parser.externalEntityResolvingPolicy = .never
        parser.delegate = builder
        let isWellFormed = parser.parse()
        if let failure = builder.failure { throw failure }
        guard isWellFormed, parser.parserError == nil, builder.open.isEmpty, let root = builder.root else {
            throw XMLSyntaxError(kind: .malformed, line: parser.lineNumber)
        }
        return XMLTree(root: root)
    }

    func parser(
        _ parser: XMLParser,
        didStartElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        guard open.count < maximumDepth else { return fail(.nestedTooDeep, parser) }
        guard root == nil else { return fail(.malformed, parser) }
        for attribute in attributes { spend(attribute.value.utf8.count, parser) }
        flushText()
        let namespace = namespaceURI.flatMap { $0.isEmpty ? nil : $0 }
        open.append(XMLTree.Element(elementName, namespace: namespace, attributes: attributes))
    }

    func parser(
        _ parser: XMLParser,
        didEndElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard failure == nil else { return }
        flushText()
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(.element(element))
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard failure == nil, !open.isEmpty else { return }
        spend(string.utf8.count, parser)
        text += string
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        guard failure == nil, !open.isEmpty else { return }
        spend(block.count, parser)
        text += String(decoding: block, as: UTF8.self)
    }

    private func spend(_ count: Int, _ parser: XMLParser) {
        budget -= count
        if budget < 0 { fail(.entityDeclaration, parser) }
    }

    private func fail(_ kind: XMLSyntaxError.Kind, _ parser: XMLParser) {
        guard failure == nil else { return }
        failure = XMLSyntaxError(kind: kind, line: parser.lineNumber)
        parser.abortParsing()
    }

    private func flushText() {
        guard !text.isEmpty, !open.isEmpty else { return }
        open[open.count - 1].children.append(.text(text))
        text = ""
    }
}
