/// The events of one response of type `text/event-stream`, as they arrive; see
/// ``HTTPResponseBody/serverSentEvents(upTo:)``.
public struct ServerSentEventSequence: AsyncSequence, Sendable {
    /// A server-sent event.
    public typealias Element = ServerSentEvent
    /// The error of the sequence.
    public typealias Failure = SessionError

    let body: HTTPResponseBody
    let limit: Int

    /// Creates the reader. A streamed body has only one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(events: ServerSentEventReader(body, limit: limit))
    }

    /// Reads events.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: ServerSentEventReader

        /// Returns the next event, or nil at the end.
        public mutating func next() async throws(SessionError) -> ServerSentEvent? {
            try await events.next()
        }

        /// Returns the next event, or nil at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SessionError) -> ServerSentEvent? {
            try await next()
        }
    }
}

/// Reads the events of one response.
struct ServerSentEventReader {
    private var lines: LineReader
    private(set) var parser: ServerSentEventParser

    init(_ body: HTTPResponseBody, limit: Int, lastEventID: String = "") {
        lines = LineReader(body, .any, limit: limit)
        parser = ServerSentEventParser(limit: limit, lastEventID: lastEventID)
    }

    /// Returns the next event; nil at the end, where an incomplete event is discarded.
    mutating func next() async throws(SessionError) -> ServerSentEvent? {
        while let line = try await lines.next(keepsRest: false) {
            if let event = try parser.line(line) { return event }
        }
        return nil
    }
}

extension HTTPResponseBody {
    /// Returns the events of a body of type `text/event-stream` (WHATWG HTML, section 9.2), as they arrive, until the
    /// end of the body.
    ///
    /// The status and the content type are not validated, and the stream is not reconnected;
    /// ``HTTPCall/serverSentEvents(options:)`` does both. Iteration throws ``SessionError/Code/bodyTooLarge`` if a
    /// line, or the data of an event, has more bytes than the limit.
    public func serverSentEvents(upTo limit: Int = HTTPResponseBody.defaultLineLimit) -> ServerSentEventSequence {
        ServerSentEventSequence(body: self, limit: limit)
    }
}
