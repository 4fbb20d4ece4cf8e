internal import LinnetJSON
internal import LinnetTransport

/// One event of a trace.
struct Entry: Sendable {
    enum Shape: Sendable {
        case bar(ContinuousClock.Instant, ContinuousClock.Instant)
        case mark(ContinuousClock.Instant)
        case curve(ContinuousClock.Instant, [(String, Int)])
        case rowName
    }

    let name: String
    let category: String
    let shape: Shape
    /// The ID of the request.
    let row: UInt64
    var details: [(String, String)] = []

    /// The steps of an attempt, one after the other.
    static func steps(of attempt: TransportMetrics, row: UInt64) -> [Entry] {
        var entries: [Entry] = []
        func add(_ name: String, _ start: ContinuousClock.Instant?, _ end: ContinuousClock.Instant?) {
            guard let start, let end, start <= end else { return }
            entries.append(Entry(name: name, category: "attempt", shape: .bar(start, end), row: row))
        }
        add("wait for connection", attempt.queue?.start, attempt.queue?.end)
        // The connection may have been opened before the attempt.
        if let start = attempt.start, (attempt.connect?.start ?? start) >= start {
            add("resolve name", attempt.nameResolution?.start, attempt.nameResolution?.end)
            add("connect", attempt.connect?.start, attempt.connect?.end)
            add("TLS handshake", attempt.tlsHandshake?.start, attempt.tlsHandshake?.end)
        }
        add("request", attempt.requestStart, attempt.requestEnd)
        add("wait for response", attempt.requestEnd, attempt.responseStart)
        add("response", attempt.responseStart, attempt.responseEnd)
        return entries
    }

    func json(since origin: ContinuousClock.Instant) -> JSONValue {
        var event = JSONObject()
        event["name"] = .string(name)
        event["pid"] = 1
        event["tid"] = .number(JSONNumber(row))
        switch shape {
        case .bar(let start, let end):
            event["ph"] = "X"
            event["ts"] = microseconds(start - origin)
            event["dur"] = microseconds(end - start)
        case .mark(let time):
            event["ph"] = "i"
            event["s"] = "t"
            event["ts"] = microseconds(time - origin)
        case .curve(let time, let numbers):
            event["ph"] = "C"
            event["ts"] = microseconds(time - origin)
            event["args"] = object(numbers) { .number(JSONNumber($0)) }
        case .rowName:
            event["name"] = "thread_name"
            event["ph"] = "M"
            event["args"] = ["name": .string(name)]
        }
        if !category.isEmpty { event["cat"] = .string(category) }
        if !details.isEmpty { event["args"] = object(details) { .string($0) } }
        return .object(event)
    }

    private func object<Value>(_ entries: [(String, Value)], _ json: (Value) -> JSONValue) -> JSONValue {
        var object = JSONObject()
        for (name, value) in entries { object[name] = json(value) }
        return .object(object)
    }

    private func microseconds(_ duration: Duration) -> JSONValue {
        JSONNumber(duration / .microseconds(1)).map { .number($0) } ?? 0
    }
}
