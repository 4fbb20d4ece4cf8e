public import FoundationEssentials
public import HTTPTypes
public import LinnetCache
public import LinnetCompression
internal import LinnetSerialization
public import LinnetTransport

/// A response: its head, its URL, its metrics, and a value.
///
/// The value is the result of a serializer, the URL of a downloaded file, or the body itself as it arrives
/// (``StreamedResponse``).
public struct SessionResponse<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// The URL of the response, after redirects.
    public var url: URL
    /// The status and the header fields. If ``contentCodings`` were decoded, Content-Encoding and Content-Length are
    /// removed, since they describe bytes that the caller does not see.
    public var head: HTTPResponse
    /// The decoded body; empty if it was streamed or written to a file.
    public var data: Data
    /// The followed redirects, in order.
    public var redirects: [HTTPRedirect] = []
    /// The part of the cache in the last response after redirects; nil in a session without a cache.
    public var cacheOutcome: CacheStatistics.Outcome?
    /// The decoded content codings of the body, in the order in which the server applied them (RFC 9110, section 8.4);
    /// empty if the body was not decoded. `TransportMetrics.responseBodyBytes` counts the bytes before decoding.
    public var contentCodings: [ContentCoding] = []
    /// The metrics of the attempts before the response was returned.
    var attempts: [TransportMetrics]

    /// Creates a response, for interceptors, tests and previews.
    public init(value: Value, url: URL, head: HTTPResponse, data: Data = Data(), metrics: [TransportMetrics] = []) {
        self.value = value
        self.url = url
        self.head = head
        self.data = data
        attempts = metrics
    }

    /// The status code and its reason.
    public var status: HTTPResponse.Status { head.status }

    /// The metrics of each attempt, in order; empty if the network was not used, for example for a response from the
    /// cache. The metrics of a streamed body are complete after it was read to its end.
    public var metrics: [TransportMetrics] {
        get {
            guard let final = (value as? HTTPResponseBody)?.finalMetrics else { return attempts }
            return attempts.dropLast() + [final]
        }
        set { attempts = newValue }
    }

    /// Returns the response with its value transformed. Rethrows errors from `transform`.
    public func map<NewValue: Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> NewValue
    ) throws(Failure) -> SessionResponse<NewValue> {
        with(try transform(value), data: data)
    }

    /// Returns the response with another value.
    consuming func with<NewValue: Sendable>(_ value: NewValue, data: Data = Data()) -> SessionResponse<NewValue> {
        var response = SessionResponse<NewValue>(value: value, url: url, head: head, data: data, metrics: metrics)
        response.redirects = redirects
        response.cacheOutcome = cacheOutcome
        response.contentCodings = contentCodings
        return response
    }
}

/// A response whose body is read as it arrives. Interceptors receive and return it.
///
/// ```swift
/// let response = try await api.get("report").bytes()
/// for try await chunk in response.body { consume(chunk) }
/// ```
public typealias StreamedResponse = SessionResponse<HTTPResponseBody>

extension SessionResponse where Value == HTTPResponseBody {
    /// Creates a response with a body, for interceptors that answer requests themselves.
    public init(url: URL, head: HTTPResponse, body: HTTPResponseBody = .whole(Data()), metrics: [TransportMetrics] = [])
    {
        self.init(value: body, url: url, head: head, metrics: metrics)
    }

    /// The body: whole, or pulled as it arrives.
    public var body: HTTPResponseBody {
        get { value }
        set { value = newValue }
    }

    /// The trailer fields (RFC 9110, section 6.5); nil until the end of the body was read, and if there are none.
    public var trailers: HTTPFields? { body.completion?.trailers }

    /// Returns the response with the value that a serializer reads from its body.
    @inline(never)
    consuming func read<S: ResponseSerializer>(
        _ body: Data, answering method: HTTPRequest.Method, by serializer: S
    ) throws(SessionError) -> SessionResponse<S.Value> {
        do {
            return with(
                try serializer.serialize(
                    SerializedResponse(url: url, head: head, body: body, requestMethod: method)), data: body)
        } catch {
            var error = SessionError(error, url: url).adding(self)
            error.body = error.body ?? body
            throw error
        }
    }
}
