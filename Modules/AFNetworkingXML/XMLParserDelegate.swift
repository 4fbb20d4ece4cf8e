public import Foundation  // Data

/// Receives the events of an ``XMLParser``. All methods have defaults, which do nothing unless they say so.
public protocol XMLParserDelegate: AnyObject {
    /// The parsing begins.
    func parserDidStartDocument(_ parser: XMLParser)
    /// The document was parsed to its end.
    func parserDidEndDocument(_ parser: XMLParser)
    /// An element begins. The namespace and the qualified name are nil unless the parser processes namespaces.
    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
        attributes attributeDict: [String: String])
    /// An element ends.
    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?)
    /// The scope of a prefix begins; the prefix of the default namespace is empty.
    func parser(_ parser: XMLParser, didStartMappingPrefix prefix: String, toURI namespaceURI: String)
    /// The scope of a prefix ends.
    func parser(_ parser: XMLParser, didEndMappingPrefix prefix: String)
    /// A text, or a part of one.
    func parser(_ parser: XMLParser, foundCharacters string: String)
    /// A processing instruction.
    func parser(_ parser: XMLParser, foundProcessingInstructionWithTarget target: String, data: String?)
    /// A comment.
    func parser(_ parser: XMLParser, foundComment comment: String)
    /// A CDATA section. The default reports it as characters.
    func parser(_ parser: XMLParser, foundCDATA cdataBlock: Data)
    /// The document cannot be parsed to its end. No other method follows.
    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error)
}

extension XMLParserDelegate {
    /// Does nothing.
    public func parserDidStartDocument(_ parser: XMLParser) {}

    /// Does nothing.
    public func parserDidEndDocument(_ parser: XMLParser) {}

    /// Does nothing.
    public func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName qName: String?,
        attributes attributeDict: [String: String]
    ) {}

    /// Does nothing.
    public func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {}

    /// Does nothing.
    public func parser(_ parser: XMLParser, didStartMappingPrefix prefix: String, toURI namespaceURI: String) {}

    /// Does nothing.
    public func parser(_ parser: XMLParser, didEndMappingPrefix prefix: String) {}

    /// Does nothing.
    public func parser(_ parser: XMLParser, foundCharacters string: String) {}

    /// Does nothing.
    public func parser(_ parser: XMLParser, foundProcessingInstructionWithTarget target: String, data: String?) {}

    /// Does nothing.
    public func parser(_ parser: XMLParser, foundComment comment: String) {}

    /// Reports the section as characters.
    public func parser(_ parser: XMLParser, foundCDATA cdataBlock: Data) {
        self.parser(parser, foundCharacters: String(decoding: cdataBlock, as: UTF8.self))
    }

    /// Does nothing.
    public func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {}
}
