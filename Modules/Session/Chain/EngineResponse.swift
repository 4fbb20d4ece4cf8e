public import FoundationEssentials
public import HTTPTypes
public import LinnetTransport

/// A response in the chain, before it is serialized.
///
/// It is the same for responses from the network, from a store and from an interceptor.
public struct EngineResponse: Sendable {
    /// The URL of the response.
    public var url: URL
    /// Status and header fields.
    public var head: HTTPResponse
    /// The body: whole, or pulled as it arrives.
    public var body: ResponseBody
    /// The metrics of each attempt, in order; empty when the network was not used.
    public var attempts: [TransportMetrics]
    /// The redirects that were followed to it, in order.
    public var redirects: [Redirect] = []

    /// Makes a response; for interceptors that answer themselves.
    public init(url: URL, head: HTTPResponse, body: ResponseBody = .whole(Data()), attempts: [TransportMetrics] = []) {
        self.url = url
        self.head = head
        self.body = body
        self.attempts = attempts
    }
}
