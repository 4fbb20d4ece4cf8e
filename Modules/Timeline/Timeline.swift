public import FoundationEssentials
internal import LinnetJSON
internal import LinnetMessages
public import LinnetSession
public import LinnetTransport
internal import Synchronization

/// Records the steps of a session's requests on a time line, and writes it as a Chrome trace, which Chromium
/// (`chrome://tracing`), Perfetto and other viewers show.
///
/// ```swift
/// let timeline = Timeline()
/// let session = try HTTPSession { $0.instruments = [timeline] }
/// // …
/// try timeline.write(to: file)
/// ```
/// Each request is a row. Its sendings are bars, each with the steps of its attempts below: waiting for a connection,
/// name resolution, connecting, the TLS handshake, the request, waiting for the response, and the response. Hooks,
/// adapters, renewals, pauses and waits of the session are bars too, and retries, hedges and answers of the cache are
/// marks. Open connections and waiting requests are curves. URLs are redacted with the session's `Redaction`; header
/// fields and bodies are not recorded.
public final class Timeline: Instrument {
    private struct State {
        var entries: [Entry] = []
        var dropped = 0
        var open = 0
        var active = 0
        var waiting = 0
        /// The rows that have a name.
        var named: Set<UInt64> = []
    }

    /// The number of events that a time line keeps by default: 100,000, about 20 MB.
    public static let defaultLimit = 100_000

    private let limit: Int
    private let origin = ContinuousClock.now
    private let state = Mutex(State())

    /// Creates an empty time line, which begins now.
    ///
    /// - Parameter limit: The largest number of events to keep. The default is 100,000, about 20 MB. Beyond it, events
    ///   are counted, and not recorded.
    public init(limit: Int = defaultLimit) {
        self.limit = max(0, limit)
    }

    /// The number of events that were not recorded.
    public var droppedEvents: Int { state.withLock { $0.dropped } }

    /// The recorded events in the JSON Object Format of Chrome's trace events.
    public func json() -> Data {
        let (entries, dropped) = state.withLock { ($0.entries, $0.dropped) }
        let document: JSONValue = [
            "traceEvents": .array(entries.map { $0.json(since: origin) }),
            "displayTimeUnit": "ms",
            "otherData": ["droppedEvents": .number(JSONNumber(dropped))],
        ]
        return document.data()
    }

    /// Writes the recorded events to a file, completely or not at all.
    ///
    /// - Throws: An error of the file system.
    public func write(to file: URL) throws {
        try json().write(to: file, options: .atomic)
    }

    // MARK: Instrument

    /// The time line itself.
    public var connectionObserver: (any ConnectionObserver)? { self }

    /// Records the sending once it has ended.
    public func willSend(_ request: inout InstrumentedRequest) -> (@Sendable (SendOutcome) -> Void)? {
        let (request, start) = (request, ContinuousClock.now)
        return { [self] outcome in
            var details: [(String, String)] = [("url", request.redactedURL)]
            if let status = outcome.head?.status.code { details.append(("status", "\(status)")) }
            if let type = outcome.errorType { details.append(("error", type)) }
            if let last = outcome.attempts.last {
                if let version = last.httpVersion { details.append(("protocol", version)) }
                details.append(("connection", "\(last.connectionID)"))
                details.append(("reused", "\(last.isReusedConnection)"))
            }
            let name = "\(request.method.rawValue) \(request.origin.host) (\(request.sends))"
            let bar = Entry(
                name: name, category: "send", shape: .bar(start, .now), row: request.taskID, details: details)
            add([bar] + outcome.attempts.flatMap { Entry.steps(of: $0, row: request.taskID) }, for: request)
        }
    }

    /// Records a mark.
    public func didDecide(_ decision: TaskEvent.Decision, on request: InstrumentedRequest) {
        let mark = Entry(name: "\(decision)", category: "decision", shape: .mark(.now), row: request.taskID)
        add([mark], for: request)
    }

    /// Records the step.
    public func didPerform(_ step: InstrumentedStep, for request: InstrumentedRequest) {
        let bar = Entry(name: step.name, category: "step", shape: .bar(step.start, step.end), row: request.taskID)
        add([bar], for: request)
    }

    private func add(_ entries: [Entry], for request: InstrumentedRequest) {
        state.withLock { state in
            if state.named.count < limit, state.named.insert(request.taskID).inserted {
                let name = "\(request.taskID): \(request.method.rawValue) \(request.redactedURL)"
                append(Entry(name: name, category: "", shape: .rowName, row: request.taskID), to: &state)
            }
            for entry in entries { append(entry, to: &state) }
        }
    }

    private func append(_ entry: Entry, to state: inout State) {
        if state.entries.count < limit { state.entries.append(entry) } else { state.dropped += 1 }
    }
}

extension Timeline: ConnectionObserver {
    /// Records the numbers of connections and of waiting requests.
    public func connectionDidChange(_ event: ConnectionEvent) {
        state.withLock { state in
            switch event.kind {
            case .opened: state.open += 1
            case .becameActive: state.active += 1
            case .becameIdle: state.active -= 1
            case .closed(_, let wasActive):
                state.open -= 1
                if wasActive { state.active -= 1 }
            case .requestWaits: state.waiting += 1
            case .requestStoppedWaiting: state.waiting -= 1
            }
            let numbers = [("open", state.open), ("active", state.active), ("waiting requests", state.waiting)]
            append(Entry(name: "connections", category: "pool", shape: .curve(.now, numbers), row: 0), to: &state)
        }
    }
}
