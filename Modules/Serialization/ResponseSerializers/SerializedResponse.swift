public import FoundationEssentials
public import HTTPTypes

/// What a response serializer reads: a response with its whole body.
public struct SerializedResponse: Sendable {
    /// The URL of the response, after redirects.
    public var url: URL?
    /// The status and the header fields.
    public var head: HTTPResponse
    /// The content as received. A content coding is not undone: the Content-Encoding field names it (RFC 9110, section 8.4).
    public var body: Data
    /// The method of the request; nil if it is not known. A response to HEAD has no content, whatever its fields say.
    public var requestMethod: HTTPRequest.Method?

    /// Creates a response.
    public init(url: URL? = nil, head: HTTPResponse, body: Data = Data(), requestMethod: HTTPRequest.Method? = nil) {
        self.url = url
        self.head = head
        self.body = body
        self.requestMethod = requestMethod
    }

    /// The media type in Content-Type; nil if the field is missing or malformed. If the server sent the field several
    /// times, the last valid value counts (WHATWG Fetch, "extract a MIME type").
    public var mediaType: MediaType? {
        head.headerFields[.contentType].flatMap(MediaType.init(contentType:))
    }

    /// Whether HTTP allows the response to have content: not with 1xx, 204, 205 or 304, and not in reply to HEAD
    /// (RFC 9110, sections 6.4.1 and 15.3.6).
    var allowsContent: Bool {
        let status = head.status.code
        return status >= 200 && ![204, 205, 304].contains(status) && requestMethod != .head
    }
}

extension SerializationError {
    /// The error for a body that cannot be decoded. A content coding that is still applied is named as the reason, since
    /// it explains what the decoder reported.
    ///
    /// - Parameters:
    ///   - response: The response with the body.
    ///   - code: The code; the default is ``Code/decodingFailed``.
    ///   - problem: The beginning of the message, such as "The body is not JSON".
    ///   - reason: The end of the message, with or without its full stop.
    ///   - underlying: The decoder's error.
    package init(
        unreadable response: SerializedResponse, code: Code = .decodingFailed, _ problem: String, reason: String,
        underlying: any Error
    ) {
        let coding = response.head.headerFields[.contentEncoding]?.lowercased() ?? "identity"
        let shown = String(coding.prefix(40)).debugDescription
        let cause =
            coding == "identity"
            ? reason : "its Content-Encoding \(shown) has not been decoded; send Accept-Encoding: identity"
        self.init(
            code: code, message: "\(problem): \(cause)" + (cause.hasSuffix(".") ? "" : "."), underlying: underlying,
            response: response)
    }
}
