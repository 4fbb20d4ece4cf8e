internal import FoundationEssentials
internal import HTTPTypes
public import LinnetSerialization

// Calls that read the body as it arrives. Nothing is read from the connection while the reader is busy; leaving before
// the end closes it. A validation judges a response by its head, before its body is read. A body of which the head does
// not say that it is empty counts as one that is not: it needs an acceptable content type.
extension HTTPCall {
    /// Sends the request, and returns once the response's head was received; the body is read as it arrives, by one
    /// reader.
    ///
    /// ```swift
    /// let response = try await api.get("report").bytes()
    /// for try await chunk in response.body { consume(chunk) }
    /// ```
    /// - Parameter validation: The responses to accept. The default is a status of 200 to 299 with any content type;
    ///   `.none` also accepts error pages.
    /// - Throws: ``SessionError`` with ``SessionError/Code/unacceptableStatus`` or
    ///   ``SessionError/Code/unacceptableContentType`` if the validation refuses the response; up to 1 MiB of its body
    ///   is in the error.
    public func bytes(
        validation: ResponseValidation = ResponseValidation()
    ) async throws(SessionError) -> StreamedResponse {
        let request = try request()
        let response = try await session.bytes(for: request, extras: extras)
        try await response.validate(by: validation, answering: request.method)
        return response
    }

    /// Sends the request when the first line is read, and yields the lines of the response while they arrive.
    ///
    /// Lines end in LF, CR or both, and are in UTF-8; bytes that are not become U+FFFD. A line of more bytes than
    /// `limit`, which is 1 MiB by default, fails with ``SessionError/Code/bodyTooLarge``, and a response that
    /// `validation` refuses as for ``bytes(validation:)``.
    public func lines(
        upTo limit: Int = HTTPResponseBody.defaultLineLimit, validation: ResponseValidation = ResponseValidation()
    ) -> some AsyncSequence<String, SessionError> & Sendable {
        CallSequence(self, validation) { $0.lines(upTo: limit) }
    }

    /// Sends the request when the first value is read, and yields the values of a response of newline-delimited JSON
    /// while they arrive.
    ///
    /// A line that is not such a value fails with ``SessionError/Code/decodingFailed``, otherwise as
    /// ``lines(upTo:validation:)``.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type, upTo limit: Int = HTTPResponseBody.defaultLineLimit,
        validation: ResponseValidation = ResponseValidation()
    ) -> some AsyncSequence<Value, SessionError> & Sendable {
        CallSequence(self, validation) { [decoder = session.initialConfiguration.decoder] in
            $0.jsonLines(as: type, decoder: decoder, upTo: limit)
        }
    }

    /// Listens to a source of server-sent events (WHATWG HTML, section 9.2), and reconnects whenever the connection
    /// ends.
    ///
    /// ```swift
    /// for try await event in api.get("events").serverSentEvents() { print(event.type, event.data) }
    /// ```
    /// The request gets `Accept: text/event-stream` unless it has an Accept field, and each new connection sends the
    /// `Last-Event-ID` of the last complete event. ``EventSource/Options`` and the server's `retry` determine the wait
    /// before it reconnects. It ends when the server answers 204. It runs in the task that reads it; stopping closes
    /// the connection.
    ///
    /// Fails with ``SessionError/Code/unacceptableStatus`` for a status that is neither 200 nor 204, with
    /// ``SessionError/Code/unacceptableContentType`` for another type than `text/event-stream`, with
    /// ``SessionError/Code/bodyTooLarge`` for an event that exceeds the limit, and with other errors that a retry
    /// cannot resolve, such as ``SessionError/Code/trustRefused``. The timeout for the whole request also ends a
    /// connection: do not set it, and make the idle timeout longer than the server's pauses.
    public func serverSentEvents(options: EventSource.Options = EventSource.Options()) -> EventSource {
        EventSource(
            session: session, request: Result { () throws(SessionError) in try request() }, options: options,
            extras: extras)
    }
}

/// The elements of a call's response while they arrive. Reading the first element sends the request, once for each
/// reader.
private struct CallSequence<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Failure == SessionError, Base.Element: Sendable {
    typealias Element = Base.Element
    typealias Failure = SessionError

    private let call: HTTPCall
    private let validation: ResponseValidation
    private let read: @Sendable (HTTPResponseBody) -> Base

    init(_ call: HTTPCall, _ validation: ResponseValidation, _ read: @escaping @Sendable (HTTPResponseBody) -> Base) {
        self.call = call
        self.validation = validation
        self.read = read
    }

    func makeAsyncIterator() -> Iterator { Iterator(call: call, validation: validation, read: read) }

    /// Sends the request, and reads its response.
    struct Iterator: AsyncIteratorProtocol {
        let call: HTTPCall
        let validation: ResponseValidation
        let read: @Sendable (HTTPResponseBody) -> Base
        private var base: Base.AsyncIterator?
        private var isOver = false

        init(
            call: HTTPCall, validation: ResponseValidation, read: @escaping @Sendable (HTTPResponseBody) -> Base
        ) {
            self.call = call
            self.validation = validation
            self.read = read
        }

        mutating func next() async throws(SessionError) -> Element? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(SessionError) -> Element? {
            guard !isOver else { return nil }
            do {
                if base == nil { base = try await read(call.bytes(validation: validation).body).makeAsyncIterator() }
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

extension SessionResponse where Value == HTTPResponseBody {
    /// Validates a response before its body is read. The error of a refused one has the first bytes of the body.
    func validate(
        by validation: ResponseValidation, answering method: HTTPRequest.Method
    ) async throws(SessionError) {
        // A line feed stands for a body that is still to come.
        let body = head.bodyLength(answering: method) == 0 ? Data() : Data([0x0A])
        do {
            try validation.validate(SerializedResponse(url: url, head: head, body: body, requestMethod: method))
        } catch {
            throw await refused(error)
        }
    }
}
