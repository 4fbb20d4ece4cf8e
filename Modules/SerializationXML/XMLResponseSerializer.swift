import FoundationEssentials
public import LinnetSerialization

/// Reads an XML body into a tree; an empty body gives nil.
///
/// External resources are never loaded, and documents that declare entities are refused, since a few lines of them can
/// expand to gigabytes. The encoding comes from a byte order mark, or else from the charset of `Content-Type`, or else
/// from the declaration, or else is UTF-8 (RFC 7303, section 3.2).
public struct XMLResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with ``xmlContentTypes``.
    public var validation: ResponseValidation
    /// The limits for parsing.
    public var options: XMLParsingOptions

    /// `application/xml`, `text/xml`, and types with the suffix `+xml`.
    public static let xmlContentTypes = ["application/xml", "text/xml", "*/*+xml"]

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: xmlContentTypes),
        options: XMLParsingOptions = XMLParsingOptions()
    ) {
        self.validation = validation
        self.options = options
    }

    /// Validates the response and reads its body.
    ///
    /// - Throws: `SerializationError` with `decodingFailed` or `nestedTooDeep`, whose underlying error is an
    ///   ``XMLSyntaxError``.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> XMLTree? {
        try validation.validate(response)
        if response.body.isEmpty { return nil }
        do {
            return try XMLTree(parsing: response.body, charset: response.xmlCharset, options: options)
        } catch {
            throw SerializationError(unreadableXML: error, response: response)
        }
    }
}

/// Returns a validated XML body for event-by-event parsing; the counterpart of AFXMLParserResponseSerializer.
///
/// ```swift
/// let document = try await session.get("feed").response(XMLEventResponseSerializer()).value
/// try document.forEachEvent { print($0) }
/// ```
/// Syntax errors are reported when the body is parsed.
public struct XMLEventResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// The responses to accept; the default is a status of 200 to 299 with ``XMLResponseSerializer/xmlContentTypes``.
    public var validation: ResponseValidation
    /// The limits for parsing.
    public var options: XMLParsingOptions

    /// Creates a serializer.
    public init(
        validation: ResponseValidation = ResponseValidation(contentTypes: XMLResponseSerializer.xmlContentTypes),
        options: XMLParsingOptions = XMLParsingOptions()
    ) {
        self.validation = validation
        self.options = options
    }

    /// Validates the response.
    public func serialize(_ response: SerializedResponse) throws(SerializationError) -> XMLEventSource {
        try validation.validate(response)
        return XMLEventSource(response: response, options: options)
    }
}

/// An XML body that is not parsed yet.
public struct XMLEventSource: Sendable {
    /// The response with the body.
    public let response: SerializedResponse
    /// The limits for parsing.
    public let options: XMLParsingOptions

    /// Parses the body, and calls `handler` for each event, in order and on the caller's thread. It can be called
    /// again.
    ///
    /// - Throws: `SerializationError` with `decodingFailed` or `nestedTooDeep`, whose underlying error is an
    ///   ``XMLSyntaxError``; or the handler's error, which ends parsing.
    public func forEachEvent(_ handler: (XMLEvent) throws -> Void) throws {
        do {
            try XMLEventParser(options: options).parse(response.body, charset: response.xmlCharset, handler)
        } catch let error as XMLSyntaxError {
            throw SerializationError(unreadableXML: error, response: response)
        }
    }
}

extension ResponseSerializer where Self == XMLResponseSerializer {
    /// Reads the body as an ``XMLTree``, with the defaults.
    public static var xml: Self { Self() }
}

extension SerializedResponse {
    fileprivate var xmlCharset: String? { mediaType?.parameter("charset") }
}

extension SerializationError {
    fileprivate init(unreadableXML error: XMLSyntaxError, response: SerializedResponse) {
        self.init(
            unreadable: response, code: error.kind == .nestedTooDeep ? .nestedTooDeep : .decodingFailed,
            "The body is not acceptable XML", reason: error.reason, underlying: error)
    }
}
