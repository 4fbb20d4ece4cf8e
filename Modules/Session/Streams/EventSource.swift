internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization

/// Server-sent events over as many connections as it takes; see ``HTTPCall/serverSentEvents(options:)``.
public struct EventSource: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// A ``SessionError``.
    public typealias Failure = SessionError

    let session: HTTPSession
    let request: Result<Request, SessionError>
    let options: EventSourceOptions
    var hooks: TaskHooks?

    /// Makes a reader, which connects when it is first asked.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source: self)
    }

    /// Reads events, and connects again when it has to.
    public struct Iterator: AsyncIteratorProtocol {
        private let source: EventSource
        private var reader: ServerSentEventReader?
        private var lastEventID: String
        private var serverDelay: Duration?
        /// How many attempts in a row brought no event.
        private var failures = 0
        private var hasConnected = false
        private var isOver = false

        fileprivate init(source: EventSource) {
            self.source = source
            lastEventID = source.options.lastEventID
        }

        /// The next event; nil when the server said that there will be none (204).
        public mutating func next() async throws(SessionError) -> ServerSentEvent? {
            do {
                return try await nextEvent()
            } catch {
                isOver = true
                reader = nil
                throw error
            }
        }

        /// The next event; nil when the server said that there will be none (204).
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SessionError) -> ServerSentEvent? {
            try await next()
        }

        private mutating func nextEvent() async throws(SessionError) -> ServerSentEvent? {
            while !isOver {
                do throws(SessionError) {
                    if reader == nil { try await connect() }
                    if let event = try await read() { return event }
                } catch {
                    reader = nil
                    try note(error)
                }
            }
            return nil
        }

        private mutating func read() async throws(SessionError) -> ServerSentEvent? {
            guard var reader else { return nil }
            let event: ServerSentEvent?
            do {
                event = try await reader.next()
            } catch {
                keep(reader)
                throw error
            }
            keep(reader)
            self.reader = event == nil ? nil : reader
            // A stream that ends without an event counts as a failed attempt.
            failures = event == nil ? failures + 1 : 0
            guard failures <= source.options.maximumReconnects ?? .max else {
                throw SessionError(
                    .connectionLost, "The source of events ended its stream again.", url: source.url)
            }
            return event
        }

        private mutating func keep(_ reader: ServerSentEventReader) {
            lastEventID = reader.parser.resumptionID
            serverDelay = reader.parser.retry ?? serverDelay
        }

        private mutating func connect() async throws(SessionError) {
            if hasConnected { try await pause() }
            hasConnected = true
            let response = try await source.session.bytes(
                for: try source.request(after: lastEventID), hooks: source.hooks)
            if response.status.code == 204 {
                isOver = true
                return
            }
            try source.judge(response)
            reader = ServerSentEventReader(
                response.body, limit: source.options.eventSizeLimit, lastEventID: lastEventID)
        }

        private func pause() async throws(SessionError) {
            do {
                try await source.options.clock.sleep(for: source.options.delay(after: failures, serverDelay))
            } catch {
                throw .cancelled(source.url)
            }
        }

        /// Continues after a network error, unless there were too many.
        private mutating func note(_ error: SessionError) throws(SessionError) {
            failures += 1
            guard error.isOfTheNetwork, failures <= source.options.maximumReconnects ?? .max else { throw error }
        }
    }

    fileprivate var url: URL? { try? request.get().url }

    fileprivate func request(after lastEventID: String) throws(SessionError) -> Request {
        var request = try request.get()
        request.headerFields[.accept] = request.headerFields[.accept] ?? "text/event-stream"
        request.headerFields[.cacheControl] = "no-store"
        if !lastEventID.isEmpty, let name = HTTPField.Name("Last-Event-ID") {
            request.headerFields[name] = lastEventID
        }
        return request
    }

    fileprivate func judge(_ response: StreamedResponse) throws(SessionError) {
        let validation = ResponseValidation(statusCodes: 200..<201, contentTypes: ["text/event-stream"])
        do {
            // The body is there to be read: a response without a type is none of events.
            try validation.validate(
                SerializedResponse(url: response.url, head: response.head, body: Data([0x0A])))
        } catch {
            var refusal = SessionError(error, url: response.url)
            refusal.body = nil
            throw refusal
        }
    }
}

extension EventSourceOptions {
    /// The delay after this many failed attempts.
    func delay(after failures: Int, _ serverDelay: Duration?) -> Duration {
        let delay = (serverDelay ?? reconnectDelay).waitable
        let doubled = delay * (1 << min(max(0, failures - 1), 20))
        return max(delay, min(doubled, maximumReconnectDelay))
    }
}

extension SessionError {
    /// Whether another attempt may succeed.
    fileprivate var isOfTheNetwork: Bool {
        [.connectionLost, .connectionFailed, .nameResolutionFailed, .timeout].contains(code)
    }
}
