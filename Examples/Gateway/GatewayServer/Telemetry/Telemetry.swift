import HTTPTypes
import Hummingbird
package import Logging
import Metrics
import Synchronization
import Tracing

/// The metrics and traces of a process. Counts, times and traces the requests of the server, by OpenTelemetry's names.
package final class Telemetry: Sendable {
    package let metrics = PrometheusMetrics()
    package let tracer: LogTracer
    private let active: Meter
    /// One timer for each set of labels. There are few: methods outside HTTP's own have one label.
    private let timers = Mutex<[Labels: Metrics.Timer]>([:])

    package init(logger: Logger, ratio: Double) {
        tracer = LogTracer(logger: logger, ratio: ratio)
        active = Meter(label: "http.server.active_requests", factory: metrics)
    }

    struct Labels: Hashable {
        let method: String
        let route: String
        /// Zero if no response was sent.
        var status = 0
    }

    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// Begins the observation of a request, whose trace may be a caller's.
    func begin(_ request: Request, route: String) -> Observation {
        var context = InstrumentationContext.topLevel
        tracer.extract(request.headers, into: &context, using: FieldExtractor())
        let method = Self.methods.contains(request.method) ? request.method.rawValue : "_OTHER"
        active.increment()
        return Observation(
            of: Labels(method: method, route: route), self,
            tracer.startSpan("\(method) \(route)", context: context, ofKind: .server))
    }

    fileprivate func end(_ labels: Labels, _ duration: Duration, _ span: LogSpan) {
        active.decrement()
        timer(labels).recordNanoseconds(Int64(duration / .nanoseconds(1)))
        if span.isRecording {
            span.updateAttributes { attributes in
                attributes["http.request.method"] = labels.method
                attributes["http.route"] = labels.route
                attributes["http.response.status_code"] = labels.status
            }
            if labels.status == 0 || labels.status >= 500 { span.setStatus(SpanStatus(code: .error)) }
        }
        span.end()
    }

    private func timer(_ labels: Labels) -> Metrics.Timer {
        timers.withLock { timers in
            if let timer = timers[labels] { return timer }
            let dimensions = [
                ("http.request.method", labels.method), ("http.route", labels.route),
                ("http.response.status_code", labels.status == 0 ? "none" : "\(labels.status)"),
            ]
            let timer = Metrics.Timer(label: "http.server.request.duration", dimensions: dimensions, factory: metrics)
            timers[labels] = timer
            return timer
        }
    }

    /// The observation of one request, which ends with the response, or when the response is dropped.
    final class Observation: Sendable {
        let context: InstrumentationContext
        private let telemetry: Telemetry
        private let span: LogSpan
        private let start = ContinuousClock.now
        private let labels: Mutex<Labels>

        init(of labels: Labels, _ telemetry: Telemetry, _ span: LogSpan) {
            self.labels = Mutex(labels)
            self.telemetry = telemetry
            self.span = span
            context = span.context
        }

        deinit { telemetry.end(labels.withLock { $0 }, start.duration(to: .now), span) }

        func receive(_ status: HTTPResponse.Status) { labels.withLock { $0.status = status.code } }
    }
}

/// Reads the fields of a request.
private struct FieldExtractor: Extractor {
    func extract(key: String, from fields: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { fields[$0] }
    }
}
