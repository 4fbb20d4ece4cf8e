public import FoundationEssentials
public import HTTPTypes

/// A request above the transport: a URL, a method, header fields, a body, and options.
///
/// Serializers take a request and return another. Fields of the request win over the defaults of the serializer and
/// the session.
public struct SessionRequest: Sendable {
    /// The URL of the request.
    public var url: URL
    /// The method; the default is GET.
    public var method: HTTPRequest.Method
    /// The header fields, in order.
    public var headerFields: HTTPFields
    /// The content; nil sends none.
    public var body: HTTPRequestBody?
    /// Settings for this request only.
    public var options: RequestOptions

    /// Creates a request.
    public init(
        url: URL,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        body: HTTPRequestBody? = nil,
        options: RequestOptions = RequestOptions()
    ) {
        self.url = url
        self.method = method
        self.headerFields = headerFields
        self.body = body
        self.options = options
    }
}
