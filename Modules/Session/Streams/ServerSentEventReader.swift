/// Reads the events of one response.
struct ServerSentEventReader: ElementReader {
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
    /// ``HTTPCall/serverSentEvents(options:)`` does both. A streamed body has only one reader.
    ///
    /// - Parameter limit: The maximum size of a line, and of the data of an event, in bytes. The default is 1 MiB.
    ///   Exceeding it is ``SessionError/Code/bodyTooLarge``, which iteration throws.
    public func serverSentEvents(
        upTo limit: Int = HTTPResponseBody.defaultLineLimit
    ) -> some AsyncSequence<ServerSentEvent, SessionError> & Sendable {
        ElementSequence { ServerSentEventReader(self, limit: limit) }
    }
}
