public import FoundationEssentials
public import HTTPTypes

/// What a response serializer reads: a response with its whole body.
public struct SerializedResponse: Sendable {
    /// Where the response came from, after redirects.
    public var url: URL?
    /// The status and the header fields.
    public var head: HTTPResponse
    /// The content, after content coding has been undone.
    public var body: Data

    /// Creates a response.
    public init(url: URL? = nil, head: HTTPResponse, body: Data = Data()) {
        self.url = url
        self.head = head
        self.body = body
    }

    /// The media type that Content-Type names; nil if the field is absent or no media type. Of a field that the server has
    /// sent several times, the last that is one (WHATWG Fetch, "extract a MIME type").
    public var mediaType: MediaType? {
        head.headerFields[.contentType].flatMap(MediaType.init(contentType:))
    }
}
