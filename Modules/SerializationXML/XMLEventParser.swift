public import FoundationEssentials
// XMLParser is only in FoundationXML, which builds on the whole of Foundation; that is why this module stands apart.
import FoundationXML

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
    /// - Throws: ``XMLSyntaxError``, or what the handler throws, which ends the reading.
    public func parse(_ data: Data, _ handler: (XMLEvent) throws -> Void) throws {
        let text = try XMLText.utf8(data)
        let document = try XMLInstructions.completed(text)
        // FoundationXML does not report the declarations themselves.
        if XMLEntityScanner.declaresEntities(document) { throw XMLSyntaxError(kind: .entityDeclaration, line: 0) }
        // What is a comment and what is not is certain only in a document that is well-formed.
        let safe = XMLInstructions.completedEverywhere(text)
        if safe != document { try read(safe, size: data.count) { _ in } }
        try read(document, size: data.count, handler)
    }

    private func read(_ document: Data, size: Int, _ handler: (XMLEvent) throws -> Void) throws {
        try withoutActuallyEscaping(handler) { handler in
            let delegate = XMLEventDelegate(options: options, documentSize: size, handler: handler)
            let parser = XMLParser(data: document)
            parser.shouldProcessNamespaces = true
            parser.shouldResolveExternalEntities = false
            parser.externalEntityResolvingPolicy = .never
            parser.delegate = delegate
            let isWellFormed = parser.parse()
            if let failure = delegate.failure { throw failure }
            guard isWellFormed, parser.parserError == nil, delegate.isComplete else {
                throw XMLSyntaxError(kind: .malformed, line: parser.lineNumber)
            }
        }
    }
}

/// Makes events of FoundationXML's calls, and keeps the limits.
private final class XMLEventDelegate: XMLParserDelegate {
    private let options: XMLParsingOptions
    private let handler: (XMLEvent) throws -> Void
    private var depth = 0
    private var hasRoot = false
    private var nodes = 0
    /// How many bytes of text there may still be.
    private var budget: Int
    private(set) var failure: (any Error)?

    init(options: XMLParsingOptions, documentSize: Int, handler: @escaping (XMLEvent) throws -> Void) {
        self.options = options
        self.handler = handler
        budget = options.budget(for: documentSize)
    }

    var isComplete: Bool { hasRoot && depth == 0 }

    func parser(
        _ parser: XMLParser,
        didStartElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        guard depth < options.maximumDepth else { return fail(.nestedTooDeep, parser) }
        guard depth > 0 || !hasRoot else { return fail(.malformed, parser) }
        nodes += 1 + attributes.count
        guard nodes <= options.maximumNodes else { return fail(.tooManyNodes, parser) }
        for attribute in attributes { spend(attribute.value.utf8.count, parser) }
        hasRoot = true
        depth += 1
        tell(.startElement(Self.name(elementName, namespaceURI), attributes: attributes), parser)
    }

    func parser(
        _ parser: XMLParser,
        didEndElement elementName: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard failure == nil else { return }
        depth -= 1
        tell(.endElement(Self.name(elementName, namespaceURI)), parser)
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard depth > 0 else { return }
        spend(string.utf8.count, parser)
        tell(.text(string), parser)
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        spend(block.count, parser)
        tell(.cdata(String(decoding: block, as: UTF8.self)), parser)
    }

    func parser(_ parser: XMLParser, foundComment comment: String) {
        spend(comment.utf8.count, parser)
        tell(.comment(comment), parser)
    }

    func parser(_ parser: XMLParser, foundProcessingInstructionWithTarget target: String, data: String?) {
        tell(.processingInstruction(target: target, data: data), parser)
    }

    private static func name(_ local: String, _ namespace: String?) -> XMLName {
        XMLName(local, namespace: namespace.flatMap { $0.isEmpty ? nil : $0 })
    }

    private func spend(_ count: Int, _ parser: XMLParser) {
        budget -= count
        if budget < 0 { fail(.expandsTooMuch, parser) }
    }

    private func tell(_ event: XMLEvent, _ parser: XMLParser) {
        guard failure == nil else { return }
        do {
            try handler(event)
        } catch {
            failure = error
            parser.abortParsing()
        }
    }

    private func fail(_ kind: XMLSyntaxError.Kind, _ parser: XMLParser) {
        guard failure == nil else { return }
        failure = XMLSyntaxError(kind: kind, line: parser.lineNumber)
        parser.abortParsing()
    }
}
