public import Foundation  // NSCoder
public import LinnetAFNetworking

/// Reads an XML response as a parser, which the program sets a delegate of.
///
/// ```swift
/// manager.responseSerializer = AFXMLParserResponseSerializer()
/// manager.get("feed", success: { _, object in
///     let parser = object as? XMLParser
///     parser?.delegate = reader
///     parser?.parse()
/// })
/// ```
/// The parser is ``XMLParser``, which has the members of Foundation's. Syntax errors are reported when it parses.
open class AFXMLParserResponseSerializer: AFHTTPResponseSerializer, @unchecked Sendable {
    /// Creates a serializer that accepts `application/xml` and `text/xml`.
    public override init() {
        super.init()
        acceptableContentTypes = ["application/xml", "text/xml"]
    }

    /// Decodes a serializer, or makes a copy of one; nil for an archive that has none.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// Returns a parser of the body: also with an error, if the response is refused for its status; nil with an error,
    /// if it is refused for its type.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        read(response, data, error: error) { XMLParser(data: $0, charset: response?.textEncodingName) }
    }
}
