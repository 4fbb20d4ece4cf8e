package import HTTPTypes
package import NIOCore

/// A client that sends requests to the upstream.
package protocol Upstream: Sendable {
    /// The body of a response, read once.
    associatedtype Body: AsyncSequence & Sendable where Body.Element == ByteBuffer

    /// The executors for the tasks of the server's connections, by event loop; empty for the default executor.
    var taskExecutors: [ObjectIdentifier: any TaskExecutor] { get }

    /// Sends a request, and returns once the head of its response is here.
    ///
    /// A cancelled task, and a body that is dropped before its end, cancel the request.
    /// - Throws: ``UpstreamFailure``.
    func send(_ request: UpstreamRequest) async throws -> UpstreamResponse<Body>
}

/// A request as the upstream gets it.
package struct UpstreamRequest: Sendable {
    package var method: HTTPRequest.Method
    package var url: String
    /// The route of the request, a label with few values.
    package var template: String
    package var headerFields: HTTPFields
    /// The content; nil for none.
    package var body: ClientBody?
    /// The time for the whole exchange, the response's body included.
    package var timeout: Duration
}

/// A response of the upstream, as it came.
package struct UpstreamResponse<Body: Sendable>: Sendable {
    package var head: HTTPResponse
    package var body: Body

    package init(head: HTTPResponse, body: Body) {
        self.head = head
        self.body = body
    }
}

/// The reason for which there is no response.
package enum UpstreamFailure: Error {
    /// The upstream cannot be reached, or did not answer in HTTP.
    case unreachable
    /// The upstream has no capacity now.
    case overloaded
    /// The time of the request is over.
    case late
    /// The client has gone, or the gateway ends.
    case cancelled
    /// The request cannot be sent as it is.
    case invalidRequest
}
