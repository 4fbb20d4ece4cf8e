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
