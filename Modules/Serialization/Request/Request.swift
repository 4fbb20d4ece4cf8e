public import FoundationEssentials
public import HTTPTypes

/// A request as the layers above the transport see it: a URL, a method, header fields, a body, and options.
///
/// It is a value: a serializer takes one and returns another. A field that is set here wins over the serializer's and
/// the session's defaults.
public struct Request: Sendable {
    /// Where the request goes.
    public var url: URL
    /// The method; the default is GET.
    public var method: HTTPRequest.Method
    /// The header fields, in order.
    public var headerFields: HTTPFields
    /// The content; nil sends none.
    public var body: HTTPBody?
    /// What applies to this request only.
    public var options: RequestOptions

    /// Creates a request.
    public init(
        url: URL,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        body: HTTPBody? = nil,
        options: RequestOptions = RequestOptions()
    ) {
        self.url = url
        self.method = method
        self.headerFields = headerFields
        self.body = body
        self.options = options
    }
}
