public import FoundationEssentials
public import HTTPTypes
public import LinnetTransport

/// A response on its way up the chain, before any serializer has seen it.
///
/// It carries a response from the network, one from a store, and one that an interceptor made up, all alike.
public struct EngineResponse: Sendable {
    /// Where the response came from.
    public var url: URL
    /// Status and header fields.
    public var head: HTTPResponse
    /// The bytes: whole, or pulled as they come.
    public var body: ResponseBody
    /// What each attempt cost, in order; empty when nothing went over the network.
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
