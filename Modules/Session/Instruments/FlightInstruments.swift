internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// The instruments of a session for one request.
final class FlightInstruments: Sendable {
    private let instruments: [any Instrument]
    private let redaction: Redaction
    private let taskID: UInt64
    private let sends = Atomic(0)

    init(_ instruments: [any Instrument], _ redaction: Redaction, taskID: UInt64) {
        self.instruments = instruments
        self.redaction = redaction
        self.taskID = taskID
    }

    /// Sends a request, and tells the instruments of it.
    ///
    /// - Parameter original: The request of which the transport's request was made.
    @inline(never)
    func send(
        _ request: TransportRequest, of original: SessionRequest, _ observer: (any TransportObserver)?,
        through link: TransportLink
    ) async throws(TransportError) -> TransportResponse {
        var request = request
        guard let record = begin(&request, original, observer) else {
            return try await link.send(request, observer)
        }
        do {
            let response = try await link.send(request, record)
            record.received(response)
            return response
        } catch {
            record.failed(error, original.url)
            throw error
        }
    }

    private func begin(
        _ request: inout TransportRequest, _ original: SessionRequest, _ observer: (any TransportObserver)?
    ) -> SendObserver? {
        let sends = sends.add(1, ordering: .relaxed).newValue
        guard let origin = request.origin ?? (try? Origin(original.url)) else { return nil }
        var seen = describe(original, origin, sends: sends)
        seen.headerFields = request.head.headerFields
        var ends: [@Sendable (SendOutcome) -> Void] = []
        for instrument in instruments {
            if let end = instrument.willSend(&seen) { ends.append(end) }
        }
        if seen.headerFields != request.head.headerFields {
            request.head.headerFields = seen.headerFields
            // Changing the head forgets its origin.
            request.origin = origin
        }
        return ends.isEmpty ? nil : SendObserver(ends, base: observer)
    }

    func decided(_ decision: TaskEvent.Decision, _ request: SessionRequest) {
        guard let seen = describe(request) else { return }
        for instrument in instruments { instrument.didDecide(decision, on: seen) }
    }

    /// Begins a step that the instruments measure.
    func begin(_ name: String) -> RunningStep { RunningStep(instruments: self, name: name) }

    /// A step that has begun.
    struct RunningStep: Sendable {
        fileprivate let instruments: FlightInstruments
        fileprivate let name: String
        private let start = ContinuousClock.now

        fileprivate init(instruments: FlightInstruments, name: String) {
            self.instruments = instruments
            self.name = name
        }

        /// Tells the instruments of the step of a request.
        func end(_ request: SessionRequest) {
            guard let seen = instruments.describe(request) else { return }
            let step = InstrumentedStep(name: name, start: start, end: .now)
            for instrument in instruments.instruments { instrument.didPerform(step, for: seen) }
        }
    }

    private func describe(_ request: SessionRequest) -> InstrumentedRequest? {
        (try? Origin(request.url)).map { describe(request, $0, sends: sends.load(ordering: .relaxed)) }
    }

    private func describe(_ request: SessionRequest, _ origin: Origin, sends: Int) -> InstrumentedRequest {
        InstrumentedRequest(
            taskID: taskID, sends: sends, method: request.method, url: request.url, origin: origin,
            headerFields: request.headerFields, bodyLength: request.body.map(\.length) ?? 0,
            template: request.options.template, tag: request.options.tag, redaction: redaction)
    }
}

/// Waits for the end of one sending: the end of the attempt that led to the response, or a failure.
private final class SendObserver: TransportObserver {
    private struct State {
        /// The ended attempts. A transport that is not over sockets may report none.
        var ended: [TransportMetrics] = []
        /// The head of a response whose body has not ended, and the attempts so far.
        var response: (head: HTTPResponse, attempts: [TransportMetrics])?
        var ends: [@Sendable (SendOutcome) -> Void]
    }

    private let base: (any TransportObserver)?
    private let state: Mutex<State>

    init(_ ends: [@Sendable (SendOutcome) -> Void], base: (any TransportObserver)?) {
        self.base = base
        state = Mutex(State(ends: ends))
    }

    deinit {
        // The body was released before its end, by a transport that does not report this.
        let response = state.withLock { $0.response.take() }
        end(SendOutcome(head: response?.head, error: nil, attempts: response?.attempts ?? []))
    }

    func willWait(_ place: WaitingPlace) { base?.willWait(place) }

    func didReceiveInformational(_ head: HTTPResponse) { base?.didReceiveInformational(head) }

    func didSendBody(bytes: Int) { base?.didSendBody(bytes: bytes) }

    func didFinishAttempt(_ metrics: TransportMetrics) {
        base?.didFinishAttempt(metrics)
        let (response, ended) = state.withLock { state in
            state.ended.append(metrics)
            return (state.response.take(), state.ended)
        }
        if let response { end(SendOutcome(head: response.head, error: nil, attempts: ended)) }
    }

    func received(_ response: TransportResponse) {
        // A whole body has ended, and so has the part of HTTP in a connection that has switched protocols.
        let hasEnded = response.body.whole != nil || response.body.upgraded != nil
        let attempts = state.withLock { state -> [TransportMetrics]? in
            if state.ended.count >= response.attempts.count { return state.ended }
            if hasEnded { return response.attempts }
            state.response = (response.head, response.attempts)
            return nil
        }
        if let attempts { end(SendOutcome(head: response.head, error: nil, attempts: attempts)) }
    }

    func failed(_ error: TransportError, _ url: URL) {
        end(SendOutcome(head: nil, error: SessionError(error, url: url), attempts: error.attempts))
    }

    private func end(_ outcome: SendOutcome) {
        let ends = state.withLock { state in
            defer { state.ends = [] }
            return state.ends
        }
        for end in ends { end(outcome) }
    }
}

extension [any Instrument] {
    /// Tells all instruments that want to know of the connections; nil if there are none.
    var connectionObserver: (any ConnectionObserver)? {
        let observers = compactMap(\.connectionObserver)
        return observers.count > 1 ? ConnectionObservers(observers: observers) : observers.first
    }
}

private struct ConnectionObservers: ConnectionObserver {
    let observers: [any ConnectionObserver]

    func connectionDidChange(_ event: ConnectionEvent) {
        for observer in observers { observer.connectionDidChange(event) }
    }
}
