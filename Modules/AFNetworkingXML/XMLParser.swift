public import Foundation  // NSObject
internal import LinnetSerializationXML

/// A parser of XML documents, with the members of Foundation's class, which is in FoundationXML on Linux: a face of
/// `XMLEventParser`.
///
/// External resources are never loaded, and documents that declare entities are refused, as are documents beyond the
/// limits of `XMLParsingOptions`. Foundation's own parser ends the process for some documents on Linux, such as one
/// with an instruction that has no data.
open class XMLParser: NSObject {
    /// The domain of the errors.
    public class var errorDomain: String { "NSXMLParserErrorDomain" }

    /// The code of an error. Other codes of Foundation do not occur: `internalError` has the reason in words.
    public enum ErrorCode: Int, Sendable {
        /// The document cannot be read.
        case internalError = 1
        /// The document is empty.
        case emptyDocumentError = 4
        /// ``XMLParser/abortParsing()`` was called.
        case delegateAbortedParseError = 512
    }

    /// Receives the events; it is held weakly.
    open weak var delegate: (any XMLParserDelegate)?
    /// Whether elements are reported by their local names, with their namespaces. The default is false: the name of an
    /// element has its prefix, and declarations of namespaces are attributes.
    open var shouldProcessNamespaces = false
    /// Whether the scopes of prefixes are reported. The default is false.
    open var shouldReportNamespacePrefixes = false
    /// External entities are never loaded, whatever this is set to.
    open var shouldResolveExternalEntities = false
    /// The error of a document that was not parsed to its end.
    open private(set) var parserError: (any Error)?
    /// The line of the last event, from 1; 0 before the first.
    open private(set) var lineNumber = 0

    private let data: Data
    private let charset: String?
    private var isAborted = false
    /// The open elements: their names as reported, and the prefixes that they declare.
    private var elements: [(element: Element, prefixes: [String])] = []

    private struct Element {
        let name: String
        let namespace: String?
        let qualifiedName: String?
    }

    private struct Aborted: Error {}

    /// Creates a parser of a document.
    public convenience init(data: Data) { self.init(data: data, charset: nil) }

    /// - Parameter charset: The charset of `Content-Type`.
    init(data: Data, charset: String?) {
        (self.data, self.charset) = (data, charset)
        super.init()
    }

    /// Ends the parsing with `delegateAbortedParseError`: the delegate may call it.
    open func abortParsing() { isAborted = true }

    /// Parses the document, and calls the delegate's methods on the caller's thread.
    ///
    /// - Returns: Whether the document was parsed to its end; ``parserError`` has the reason otherwise.
    @discardableResult
    open func parse() -> Bool {
        (isAborted, parserError, elements, lineNumber) = (false, nil, [], 0)
        delegate?.parserDidStartDocument(self)
        do {
            if data.isEmpty { throw Self.error(.emptyDocumentError, "The document is empty.") }
            try XMLEventParser().read(data, charset: charset, isSpelled: true) { event, spelling in
                guard !isAborted else { throw Aborted() }
                lineNumber = spelling.line
                report(event, spelling)
            }
            if isAborted { throw Aborted() }
        } catch is Aborted {
            return fail(Self.error(.delegateAbortedParseError, "The parsing was aborted."))
        } catch let error as XMLSyntaxError {
            lineNumber = max(lineNumber, error.line)
            return fail(Self.error(.internalError, error.description, underlying: error))
        } catch {
            return fail(error as NSError)
        }
        delegate?.parserDidEndDocument(self)
        return true
    }

    private func fail(_ error: NSError) -> Bool {
        parserError = error
        delegate?.parser(self, parseErrorOccurred: error)
        return false
    }

    private static func error(_ code: ErrorCode, _ text: String, underlying: (any Error)? = nil) -> NSError {
        var info: [String: Any] = [NSLocalizedDescriptionKey: text]
        if let underlying { info[NSUnderlyingErrorKey] = underlying }
        return NSError(domain: errorDomain, code: code.rawValue, userInfo: info)
    }

    // MARK: Events

    private func report(_ event: XMLEvent, _ spelling: XMLTagSpelling) {
        switch event {
        case .startElement(let name, let attributes): start(name, attributes, spelling)
        case .endElement: end()
        case .text(let text): delegate?.parser(self, foundCharacters: text)
        case .cdata(let text): delegate?.parser(self, foundCDATA: Data(text.utf8))
        case .comment(let text): delegate?.parser(self, foundComment: text)
        case .processingInstruction(let target, let data):
            delegate?.parser(self, foundProcessingInstructionWithTarget: target, data: data)
        }
    }

    private func start(_ name: XMLName, _ attributes: [String: String], _ spelling: XMLTagSpelling) {
        var attributes = attributes
        let written = spelling.prefix.map { "\($0):\(name.localName)" } ?? name.localName
        let element: Element
        if shouldProcessNamespaces {
            element = Element(name: name.localName, namespace: name.namespace ?? "", qualifiedName: written)
        } else {
            element = Element(name: written, namespace: nil, qualifiedName: nil)
            for (prefix, namespace) in spelling.declarations {
                attributes[prefix.isEmpty ? "xmlns" : "xmlns:\(prefix)"] = namespace
            }
        }
        elements.append((element, spelling.declarations.map(\.prefix)))
        if shouldReportNamespacePrefixes {
            for (prefix, namespace) in spelling.declarations {
                delegate?.parser(self, didStartMappingPrefix: prefix, toURI: namespace)
            }
        }
        delegate?.parser(
            self, didStartElement: element.name, namespaceURI: element.namespace, qualifiedName: element.qualifiedName,
            attributes: attributes)
    }

    private func end() {
        guard let (element, prefixes) = elements.popLast() else { return }
        delegate?.parser(
            self, didEndElement: element.name, namespaceURI: element.namespace, qualifiedName: element.qualifiedName)
        guard shouldReportNamespacePrefixes else { return }
        for prefix in prefixes.reversed() { delegate?.parser(self, didEndMappingPrefix: prefix) }
    }
}
