internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization

// Calls that read the body while it arrives. Nothing is read from the connection while the reader is busy; leaving
// before the end closes it.
extension HTTPCall {
    /// Sends the request, and returns after the response's head was received; the body is read while it arrives.
    ///
    /// The status is not validated: an error page is returned as a response.
    public func bytes() async throws(SessionError) -> StreamedResponse {
        try await session.bytes(for: request(), extras: extras)
    }

    /// Sends the request when the first line is read, and yields the lines of the response while they arrive.
    ///
    /// Lines end in LF, CR or both, and are in UTF-8; invalid bytes become U+FFFD. A line of more bytes than `limit`,
    /// by default 1 MiB, fails with ``SessionError/Code/bodyTooLarge``, and a status outside of 200 to 299 with
    /// ``SessionError/Code/unacceptableStatus``.
    public func lines(upTo limit: Int = HTTPResponseBody.defaultLineLimit) -> CallSequence<LineSequence> {
        CallSequence(self) { $0.lines(upTo: limit) }
    }

    /// Sends the request when the first value is read, and yields the values of a response of newline-delimited JSON
    /// while they arrive.
    ///
    /// A line without a value of the type fails with ``SessionError/Code/decodingFailed``. The other errors are those
    /// from ``lines(upTo:)``.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type, upTo limit: Int = HTTPResponseBody.defaultLineLimit
    ) -> CallSequence<JSONLineSequence<Value>> {
        CallSequence(self) { [decoder = session.initialConfiguration.decoder] in
            $0.jsonLines(as: type, decoder: decoder, upTo: limit)
        }
    }

    /// Listens to a source of server-sent events (WHATWG HTML, section 9.2), and reconnects whenever the connection ends.
    ///
    /// ```swift
    /// for try await event in api.get("events").serverSentEvents() { print(event.type, event.data) }
    /// ```
    /// The request gets `Accept: text/event-stream` unless it has an Accept field, and each new connection sends the
    /// `Last-Event-ID` of the last complete event. ``EventSourceOptions`` and the server's `retry` determine the wait
    /// before it reconnects. It ends when the server answers 204. It runs in the task that reads it; stopping closes
    /// the connection.
    ///
    /// Fails with ``SessionError/Code/unacceptableStatus`` for a status that is neither 200 nor 204, with
    /// ``SessionError/Code/unacceptableContentType`` for another type than `text/event-stream`, with
    /// ``SessionError/Code/bodyTooLarge`` for an event that exceeds the limit, and with other errors that a retry cannot
    /// resolve, such as ``SessionError/Code/trustRefused``. The timeout for the whole request also ends a connection: do not
    /// set it, and make the idle timeout longer than the server's pauses.
    public func serverSentEvents(options: EventSourceOptions = EventSourceOptions()) -> EventSource {
        EventSource(
            session: session, request: Result { () throws(SessionError) in try request() }, options: options,
            extras: extras)
    }
}

/// The elements of a call's response while they arrive. Reading the first element sends the request, once for each
/// reader.
public struct CallSequence<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Failure == SessionError, Base.Element: Sendable {
    /// The elements of the response.
    public typealias Element = Base.Element
    /// The type of the errors.
    public typealias Failure = SessionError

    private let call: HTTPCall
    private let read: @Sendable (HTTPResponseBody) -> Base

    init(_ call: HTTPCall, _ read: @escaping @Sendable (HTTPResponseBody) -> Base) {
        self.call = call
        self.read = read
    }

    /// Makes a reader.
    public func makeAsyncIterator() -> Iterator { Iterator(call: call, read: read) }

    /// Sends the request, and reads its response.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let call: HTTPCall
        fileprivate let read: @Sendable (HTTPResponseBody) -> Base
        private var base: Base.AsyncIterator?
        private var isOver = false

        fileprivate init(call: HTTPCall, read: @escaping @Sendable (HTTPResponseBody) -> Base) {
            self.call = call
            self.read = read
        }

        /// The next element, or nil at the end.
        public mutating func next() async throws(SessionError) -> Element? { try await next(isolation: nil) }

        /// The next element, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> Element? {
            guard !isOver else { return nil }
            do {
                if base == nil { base = try await read(call.acceptedResponse().body).makeAsyncIterator() }
                let element = try await base?.next(isolation: actor)
                isOver = element == nil
                return element
            } catch {
                isOver = true
                throw error
            }
        }
    }
}

extension HTTPCall {
    /// Returns the response if its status is 200 to 299.
    fileprivate func acceptedResponse() async throws(SessionError) -> StreamedResponse {
        let response = try await bytes()
        do {
            try ResponseValidation().validate(SerializedResponse(url: response.url, head: response.head, body: Data()))
        } catch {
            throw await response.refused(error)
        }
        return response
    }
}
