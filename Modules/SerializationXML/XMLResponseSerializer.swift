import FoundationEssentials
public import LinnetSerialization

/// Reads an XML body into a tree; an empty body gives nil.
///
/// Nothing outside the body is ever loaded, and a document that declares entities is refused: a few lines of them can
/// grow to gigabytes. The encoding is that of a byte order mark, else the charset of `Content-Type`, else the one that
/// the document declares, else UTF-8 (RFC 7303, 3.2).
public struct XMLResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// What is accepted; the default is a status of 200 to 299 with ``xmlContentTypes``.
    public var validation: ResponseValidation
    /// The limits of what is read.
    public var options: XMLParsingOptions

    /// `application/xml`, `text/xml`, and whatever ends in `+xml`.
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
    /// - Throws: `SerializationError` with `decodingFailed`, or `nestedTooDeep`; an ``XMLSyntaxError`` underlies it.
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

/// Gives an XML body to be read event by event, as AFXMLParserResponseSerializer gives a parser that has not started.
///
/// ```swift
/// let document = try await session.get("feed", serializer: XMLEventResponseSerializer()).value
/// try document.forEachEvent { print($0) }
/// ```
/// The response is validated; whether the body is well-formed shows when it is read.
public struct XMLEventResponseSerializer: ResponseSerializer, Hashable, Codable {
    /// What is accepted; the default is a status of 200 to 299 with ``XMLResponseSerializer/xmlContentTypes``.
    public var validation: ResponseValidation
    /// The limits of what is read.
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

/// A body that has not been read yet.
public struct XMLEventSource: Sendable {
    /// The response whose body it is.
    public let response: SerializedResponse
    /// The limits of what is read.
    public let options: XMLParsingOptions

    /// Reads the body, and calls `handler` for each event, in order and on the caller's thread. It can be read again.
    ///
    /// - Throws: `SerializationError` with `decodingFailed`, or `nestedTooDeep`, which an ``XMLSyntaxError``
    ///   underlies; or what the handler throws, which ends the reading.
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
