public import FoundationEssentials
public import HTTPTypes
public import LinnetTransport

/// A response whose body is read as it arrives.
///
/// ```swift
/// let response = try await session.bytes(for: request)
/// for try await chunk in response { consume(chunk) }
/// ```
/// Nothing is read from the connection while the reader is busy. Stopping before the end closes the connection.
public struct StreamedResponse: Sendable, AsyncSequence {
    /// A chunk of bytes, as received.
    public typealias Element = Data
    /// A ``SessionError``.
    public typealias Failure = SessionError

    private let response: EngineResponse
    private let report: StreamReport?

    init(_ response: EngineResponse, report: StreamReport?) {
        self.response = response
        self.report = report
    }

    /// The URL of the response.
    public var url: URL { response.url }
    /// Status and header fields, which are not validated.
    public var head: HTTPResponse { response.head }
    /// The status code and its reason.
    public var status: HTTPResponse.Status { head.status }
    /// The metrics of each attempt, in order; complete once the body was read to its end.
    public var metrics: [TransportMetrics] { response.finalAttempts }
    /// The redirects that were followed to it, in order.
    public var redirects: [Redirect] { response.redirects }
    /// The trailer fields (RFC 9110, section 6.5), once the body's end was read and if there were any.
    public var trailers: HTTPFields? { response.body.completion?.trailers }

    /// All bytes in one piece; more than `limit` fail with ``SessionError/Code/bodyTooLarge``.
    public func collect(upTo limit: Int) async throws(SessionError) -> Data {
        var collector = BodyCollector(limit: limit)
        var iterator = makeAsyncIterator()
        while let chunk = try await iterator.next() { try collector.append(chunk) }
        return collector.bytes
    }

    /// The error for a response that a validation refuses, with the first bytes of its body; ends the response.
    func refused(_ refusal: SerializationError) async -> SessionError {
        var refusal = refusal
        var batches = response.body.makeAsyncIterator()
        refusal.response?.body = await batches.collectErrorBody()
        let error = SessionError(refusal, url: url).adding(response)
        report?.complete(error, response.finalAttempts)
        return error
    }

    /// Makes the reader; a streamed body has one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(chunks: response.body.makeAsyncIterator(), response: response, report: report)
    }

    /// Reads a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var chunks: ResponseBody.Iterator
        fileprivate let response: EngineResponse
        fileprivate let report: StreamReport?

        /// The next bytes, or nil at the end.
        public mutating func next() async throws(SessionError) -> Data? {
            do {
                let chunk = try await chunks.next()
                if chunk == nil { report?.complete(nil, response.finalAttempts) }
                return chunk
            } catch {
                let error = error.adding(response)
                report?.complete(error, response.finalAttempts)
                throw error
            }
        }

        /// The next bytes, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> Data? {
            try await next()
        }
    }
}
