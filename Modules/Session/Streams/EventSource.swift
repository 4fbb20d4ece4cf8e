internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCompression
internal import LinnetSerialization
internal import LinnetTransport

/// Server-sent events from a server, with automatic reconnection; see ``HTTPCall/serverSentEvents(options:)``.
public struct EventSource: AsyncSequence, Sendable {
    /// A server-sent event.
    public typealias Element = ServerSentEvent
    /// The error of the sequence.
    public typealias Failure = SessionError

    let session: HTTPSession
    let request: Result<SessionRequest, SessionError>
    let options: Options
    let extras: Boxed<HTTPCall.Extras>?

    /// Creates a reader, which connects when its first event is requested.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source: self)
    }

    /// Reads events, and reconnects when the connection is lost.
    public struct Iterator: AsyncIteratorProtocol {
        private let source: EventSource
        private var reader: ServerSentEventReader?
        /// The beginning of the current stream.
        private var openedAt = Tick.now
        /// The time since the beginning of the last attempt; nil before the first one.
        private var sinceConnecting: (@Sendable () -> Duration)?
        private var lastEventID: String
        private var serverDelay: Duration?
        /// The number of consecutive failed attempts.
        private var failures = 0
        private var isOver = false

        fileprivate init(source: EventSource) {
            self.source = source
            lastEventID = source.options.lastEventID
        }

        /// Returns the next event; nil after the server has ended the events with 204.
        public mutating func next() async throws(SessionError) -> ServerSentEvent? {
            do {
                return try await nextEvent()
            } catch {
                isOver = true
                reader = nil
                throw error
            }
        }

        /// Returns the next event; nil after the server has ended the events with 204.
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
                    let isOpen = reader != nil
                    reader = nil
                    try note(error, isOpen: isOpen)
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
                // The events before the error have moved the point from which the next attempt continues.
                keep(reader)
                throw error
            }
            keep(reader)
            self.reader = event == nil ? nil : reader
            // The end of a stream counts as a failed attempt; an event resets the count.
            failures = event == nil ? failuresBefore(isOpen: true) + 1 : 0
            guard failures <= source.options.maximumReconnects ?? .max else {
                throw SessionError(
                    .connectionLost, "The server ended the stream of events too often.", url: source.url)
            }
            return event
        }

        private mutating func keep(_ reader: ServerSentEventReader) {
            lastEventID = reader.parser.resumptionID
            serverDelay = reader.parser.retry ?? serverDelay
        }

        private mutating func connect() async throws(SessionError) {
            if let sinceConnecting { try await pause(after: sinceConnecting()) }
            sinceConnecting = stopwatch(source.options.clock)
            let response = try await source.session.bytes(
                for: try source.request(after: lastEventID), extras: source.extras)
            if response.status.code == 204 {
                isOver = true
                return
            }
            try source.judge(response)
            openedAt = .now
            reader = ServerSentEventReader(
                response.body, limit: source.options.eventSizeLimit, lastEventID: lastEventID)
        }

        /// Waits before an attempt.
        ///
        /// - Parameter elapsed: The time since the beginning of the last one.
        private func pause(after elapsed: Duration) async throws(SessionError) {
            let options = source.options
            // The interval limits the requests to a server that wants no delay and ends each stream after an event.
            let delay = Swift.max(options.delay(after: failures, serverDelay), options.leastInterval - elapsed)
            // A graceful shutdown ends this wait as well, after which another connection would be made, without end.
            try await source.session.engine.running.sleep(for: delay, by: options.clock, until: .ending, source.url)
        }

        /// The number of consecutive failed attempts before a stream that ends, or an attempt that opened none.
        private func failuresBefore(isOpen: Bool) -> Int {
            isOpen && source.lasted(since: openedAt) ? 0 : failures
        }

        /// Counts a failed attempt; throws the error if it is not a network error, or if there were too many.
        private mutating func note(_ error: SessionError, isOpen: Bool) throws(SessionError) {
            failures = failuresBefore(isOpen: isOpen) + 1
            guard error.isOfTheNetwork, failures <= source.options.maximumReconnects ?? .max else { throw error }
        }
    }

    fileprivate var url: URL? { try? request.get().url }

    /// Whether a stream lasted long enough to reset the count of earlier failures.
    fileprivate func lasted(since opened: Tick) -> Bool {
        options.maximumReconnectDelay > .zero && .zero - opened.timeLeft >= options.maximumReconnectDelay
    }

    fileprivate func request(after lastEventID: String) throws(SessionError) -> SessionRequest {
        var request = try request.get()
        request.headerFields[.accept] = request.headerFields[.accept] ?? "text/event-stream"
        // The cache mode of the standard: a stored stream has old events.
        request.headerFields[.cacheControl] = "no-store"
        if !lastEventID.isEmpty, let name = HTTPField.Name("Last-Event-ID") {
            request.headerFields[name] = lastEventID
        }
        return request
    }

    fileprivate func judge(_ response: StreamedResponse) throws(SessionError) {
        let validation = ResponseValidation(statusCodes: 200..<201, contentTypes: ["text/event-stream"])
        do {
            // The body is not empty, so that validation rejects a response without a content type.
            try validation.validate(
                SerializedResponse(url: response.url, head: response.head, body: Data([0x0A])))
        } catch {
            var refusal = SessionError(error, url: response.url)
            refusal.body = nil
            throw refusal
        }
    }
}

extension EventSource.Options {
    /// The delay to double if the server's is shorter.
    private static let leastDoubled = Duration.milliseconds(500)

    /// The least time between the beginnings of two attempts.
    fileprivate var leastInterval: Duration {
        min(reconnectDelay.waitable, maximumReconnectDelay.waitable, .milliseconds(250))
    }

    /// Returns the delay after this many failed attempts.
    func delay(after failures: Int, _ serverDelay: Duration?) -> Duration {
        let delay = (serverDelay ?? reconnectDelay).waitable
        guard failures > 1 else { return delay }
        // A server may want no delay, but not endless attempts without one.
        let doubled = max(delay, min(reconnectDelay, Self.leastDoubled)) * (1 << min(failures - 1, 20))
        return max(delay, min(doubled, maximumReconnectDelay))
    }
}

extension SessionError {
    /// Whether another attempt may succeed. A stream that is cut off within its content coding was interrupted as well.
    fileprivate var isOfTheNetwork: Bool {
        [.connectionLost, .connectionFailed, .nameResolutionFailed, .timeout].contains(code)
            || (underlying as? CompressionError)?.code == .truncated
    }
}

/// Starts to measure time with a clock.
private func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
}

extension EventSource {
    /// Options for reading server-sent events.
    public struct Options: Sendable {
        /// The delay before reconnecting, unless the server sets one (`retry`). The default is 3 seconds. Whatever the
        /// server sets, at least a quarter of a second passes between the beginnings of two attempts, unless this
        /// delay, or ``maximumReconnectDelay``, is shorter.
        public var reconnectDelay: Duration = .seconds(3)
        /// The maximum delay: each failed attempt doubles the delay up to this, or up to the server's delay if that is
        /// longer. A server's delay of less than half a second applies to the first attempt only. The default is 1
        /// minute. Beyond it, delays do not grow.
        public var maximumReconnectDelay: Duration = .seconds(60)
        /// The maximum number of consecutive failed attempts. An event, or a stream that lasted for
        /// ``maximumReconnectDelay``, starts the count again. The default is nil: no limit. Beyond it, the error of the
        /// last attempt is thrown, which is ``SessionError/Code/connectionLost`` if the server ended the stream.
        public var maximumReconnects: Int?
        /// The initial last event ID, for example a saved one. The default is empty: none.
        public var lastEventID = ""
        /// The maximum size of a line, and of an event's data, in bytes. The default is 1 MiB. Exceeding it is
        /// ``SessionError/Code/bodyTooLarge``.
        public var eventSizeLimit = HTTPResponseBody.defaultLineLimit
        /// The clock for the delays. The default is the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Creates the default options.
        public init() {}

        /// Creates the default options, modified by a function.
        public init(_ configure: (inout Options) -> Void) {
            configure(&self)
        }
    }
}
