#if Metrics
internal import CoreMetrics
internal import LinnetMessages
internal import LinnetSession
internal import LinnetTransport

// The attributes and metrics of OpenTelemetry's conventions for HTTP clients, and Linnet's own, whose names begin with
// `linnet.`. A metric that is made by swift-metrics has no unit; LinnetMetrics.md has a table.

struct OriginLabels: SeriesLabels {
    let origin: Origin

    init(_ origin: Origin) { self.origin = origin }

    var dimensions: [(String, String)] {
        [("server.address", origin.host), ("server.port", "\(origin.port)"), ("url.scheme", origin.scheme)]
    }
}

struct RequestLabels: SeriesLabels {
    let method: String
    let origin: Origin
    let template: String?

    init(_ request: InstrumentedRequest) {
        method = request.conventionalMethod
        origin = request.origin
        template = request.template
    }

    var dimensions: [(String, String)] {
        [("http.request.method", method)] + OriginLabels(origin).dimensions
            + (template.map { [("url.template", $0)] } ?? [])
    }
}

struct OutcomeLabels: SeriesLabels {
    let request: RequestLabels
    let status: Int?
    let errorType: String?
    let version: String?

    init(_ request: RequestLabels, _ outcome: SendOutcome) {
        self.request = request
        status = outcome.status
        errorType = outcome.errorType
        version = outcome.protocolVersion
    }

    var dimensions: [(String, String)] {
        let others = [
            ("error.type", errorType), ("http.response.status_code", status.map { "\($0)" }),
            ("network.protocol.version", version),
        ]
        return request.dimensions + others.compactMap { name, value in value.map { (name, $0) } }
    }
}

struct ConnectionLabels: SeriesLabels {
    let origin: OriginLabels
    let version: String?

    init(_ event: ConnectionEvent) {
        origin = OriginLabels(event.origin)
        version = SendOutcome.protocolVersion(event.httpVersion)
    }

    var dimensions: [(String, String)] {
        origin.dimensions + (version.map { [("network.protocol.version", $0)] } ?? [])
    }
}

struct DecisionLabels: SeriesLabels {
    private let decision: String
    private let outcome: String?
    private let origin: OriginLabels

    init(_ decision: TaskEvent.Decision, _ origin: OriginLabels) {
        self.decision = decision.name
        self.origin = origin
        outcome = if case .cache(let outcome) = decision { "\(outcome)" } else { nil }
    }

    var dimensions: [(String, String)] {
        [("linnet.decision", decision)] + (outcome.map { [("linnet.cache.outcome", $0)] } ?? [])
            + origin.dimensions
    }
}

struct ActiveRequests: Sendable {
    let count: Meter

    init(_ labels: [(String, String)], _ factory: any MetricsFactory) {
        count = Meter(label: "http.client.active_requests", dimensions: labels, factory: factory)
    }
}

struct RequestSeries: Sendable {
    let duration: Timer
    let requestSize: Recorder
    let responseSize: Recorder

    init(_ labels: [(String, String)], _ factory: any MetricsFactory) {
        duration = Timer(label: "http.client.request.duration", dimensions: labels, factory: factory)
        requestSize = Recorder(
            label: "http.client.request.body.size", dimensions: labels, aggregate: true, factory: factory)
        responseSize = Recorder(
            label: "http.client.response.body.size", dimensions: labels, aggregate: true, factory: factory)
    }
}

struct ConnectionSeries: Sendable {
    let idle: Meter
    let active: Meter
    let duration: Timer

    init(_ labels: [(String, String)], _ factory: any MetricsFactory) {
        let name = "http.client.open_connections"
        idle = Meter(label: name, dimensions: [("http.connection.state", "idle")] + labels, factory: factory)
        active = Meter(label: name, dimensions: [("http.connection.state", "active")] + labels, factory: factory)
        duration = Timer(label: "http.client.connection.duration", dimensions: labels, factory: factory)
    }
}

struct OriginSeries: Sendable {
    let waiting: Meter
    let queue: Timer
    let nameResolution: Timer
    let connect: Timer
    let tlsHandshake: Timer

    init(_ labels: [(String, String)], _ factory: any MetricsFactory) {
        waiting = Meter(label: "linnet.client.waiting_requests", dimensions: labels, factory: factory)
        func timer(_ name: String) -> Timer {
            Timer(label: "linnet.client.\(name).duration", dimensions: labels, factory: factory)
        }
        queue = timer("queue")
        nameResolution = timer("name_resolution")
        connect = timer("connect")
        tlsHandshake = timer("tls_handshake")
    }
}

struct DecisionSeries: Sendable {
    let count: Counter

    init(_ labels: [(String, String)], _ factory: any MetricsFactory) {
        count = Counter(label: "linnet.client.decisions", dimensions: labels, factory: factory)
    }
}
#endif
