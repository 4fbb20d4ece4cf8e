public import FoundationEssentials
public import HTTPTypes
internal import LinnetSerialization
public import LinnetTransport

/// A response that passed validation, and the value decoded from its body.
public struct Response<Value: Sendable>: Sendable {
    /// The value that the response serializer decoded from the body.
    public var value: Value
    /// The URL of the response.
    public var url: URL
    /// Status and header fields.
    public var head: HTTPResponse
    /// The body as received.
    public var body: Data
    /// The metrics of each attempt, in order; empty when the network was not used.
    public var metrics: [TransportMetrics]
    /// The redirects that were followed to it, in order.
    public var redirects: [Redirect] = []

    /// Makes a response; for tests and previews.
    public init(value: Value, url: URL, head: HTTPResponse, body: Data = Data(), metrics: [TransportMetrics] = []) {
        self.value = value
        self.url = url
        self.head = head
        self.body = body
        self.metrics = metrics
    }

    /// The status code and its reason.
    public var status: HTTPResponse.Status { head.status }

    /// Returns the response with its value transformed. Rethrows errors from `transform`.
    public func map<NewValue: Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> NewValue
    ) throws(Failure) -> Response<NewValue> {
        var response = Response<NewValue>(
            value: try transform(value), url: url, head: head, body: body, metrics: metrics)
        response.redirects = redirects
        return response
    }
}

extension Response {
    /// Has a response read by a serializer.
    init<S: ResponseSerializer>(
        _ response: EngineResponse, body: Data, to method: HTTPRequest.Method, serializer: S
    ) throws(SessionError) where S.Value == Value {
        do {
            let value = try serializer.serialize(
                SerializedResponse(url: response.url, head: response.head, body: body, requestMethod: method))
            self.init(
                value: value, url: response.url, head: response.head, body: body, metrics: response.attempts)
            redirects = response.redirects
        } catch {
            var error = SessionError(error, url: response.url).adding(response)
            error.body = error.body ?? body
            throw error
        }
    }
}
