#if Metrics
public import CoreMetrics
internal import LinnetMessages
public import LinnetSession
public import LinnetTransport

/// Counts and measures what a session does, through swift-metrics, by the names and labels of OpenTelemetry's
/// conventions for HTTP clients.
///
/// ```swift
/// MetricsSystem.bootstrap(factory)
/// let session = try HTTPSession { $0.instruments = [.metrics] }
/// ```
/// <doc:LinnetMetrics> lists the metrics. Labels have no query, credential or cookie in them. A server or a program
/// with ever new hosts, templates or statuses cannot make ever new series: beyond ``defaultSeriesLimit`` label sets of
/// one metric, further ones share the series with the label `otel.metric.overflow`.
public final class MetricsInstrument: Instrument {
    /// The number of label sets of one metric, as in OpenTelemetry's SDKs: 2,000.
    public static let defaultSeriesLimit = 2_000

    private let requests: SeriesTable<RequestLabels, ActiveRequests>
    private let outcomes: SeriesTable<OutcomeLabels, RequestSeries>
    private let connections: SeriesTable<ConnectionLabels, ConnectionSeries>
    private let origins: SeriesTable<OriginLabels, OriginSeries>
    private let decisions: SeriesTable<DecisionLabels, DecisionSeries>

    /// Creates an instrument.
    ///
    /// - Parameters:
    ///   - factory: Makes the metrics. The default is the current one of swift-metrics, which is read here:
    ///     bootstrap it first.
    ///   - seriesLimit: The largest number of label sets of one metric, at least 1. The default is 2,000. Beyond it,
    ///     label sets share the series with the label `otel.metric.overflow`.
    public init(factory: any MetricsFactory = MetricsSystem.factory, seriesLimit: Int = defaultSeriesLimit) {
        requests = SeriesTable(limit: seriesLimit) { ActiveRequests($0, factory) }
        outcomes = SeriesTable(limit: seriesLimit) { RequestSeries($0, factory) }
        connections = SeriesTable(limit: seriesLimit) { ConnectionSeries($0, factory) }
        origins = SeriesTable(limit: seriesLimit) { OriginSeries($0, factory) }
        decisions = SeriesTable(limit: seriesLimit) { DecisionSeries($0, factory) }
    }

    /// The instrument itself.
    public var connectionObserver: (any ConnectionObserver)? { self }

    /// Counts the request as active, and measures it once it has ended.
    public func willSend(_ request: inout InstrumentedRequest) -> (@Sendable (SendOutcome) -> Void)? {
        let labels = RequestLabels(request)
        let active = requests[labels]
        active.count.increment()
        let start = ContinuousClock.now
        return { [self] outcome in
            active.count.decrement()
            let series = outcomes[OutcomeLabels(labels, outcome)]
            series.duration.record(.now - start)
            if let last = outcome.attempts.last {
                series.requestSize.record(last.requestBodyBytes)
                if outcome.head != nil { series.responseSize.record(last.responseBodyBytes) }
            }
            for attempt in outcome.attempts { record(attempt, labels) }
        }
    }

    private func record(_ attempt: TransportMetrics, _ labels: RequestLabels) {
        let series = origins[OriginLabels(labels.origin)]
        if let queue = attempt.queue { series.queue.record(queue.duration) }
        // An attempt that shared or reused a connection did not open it.
        guard !attempt.isReusedConnection else { return }
        if let span = attempt.nameResolution { series.nameResolution.record(span.duration) }
        if let span = attempt.connect { series.connect.record(span.duration) }
        if let span = attempt.tlsHandshake { series.tlsHandshake.record(span.duration) }
    }

    /// Counts the decision.
    public func didDecide(_ decision: TaskEvent.Decision, on request: InstrumentedRequest) {
        decisions[DecisionLabels(decision, OriginLabels(request.origin))].count.increment()
    }
}

extension MetricsInstrument: ConnectionObserver {
    /// Counts connections and waiting requests.
    public func connectionDidChange(_ event: ConnectionEvent) {
        switch event.kind {
        case .requestWaits: origins[OriginLabels(event.origin)].waiting.increment()
        case .requestStoppedWaiting: origins[OriginLabels(event.origin)].waiting.decrement()
        case .opened: series(event).idle.increment()
        case .becameActive:
            let series = series(event)
            series.idle.decrement()
            series.active.increment()
        case .becameIdle:
            let series = series(event)
            series.active.decrement()
            series.idle.increment()
        case .closed(let age, let wasActive):
            let series = series(event)
            (wasActive ? series.active : series.idle).decrement()
            series.duration.record(age)
        }
    }

    private func series(_ event: ConnectionEvent) -> ConnectionSeries {
        connections[ConnectionLabels(event)]
    }
}

extension Instrument where Self == MetricsInstrument {
    /// Counts and measures through the current factory of swift-metrics; see ``MetricsInstrument``.
    public static var metrics: MetricsInstrument { MetricsInstrument() }

    /// Counts and measures through a factory; see ``MetricsInstrument/init(factory:seriesLimit:)``.
    public static func metrics(
        factory: any MetricsFactory = MetricsSystem.factory,
        seriesLimit: Int = MetricsInstrument.defaultSeriesLimit
    ) -> MetricsInstrument {
        MetricsInstrument(factory: factory, seriesLimit: seriesLimit)
    }
}

extension CoreMetrics.Timer {
    fileprivate func record(_ duration: Duration) {
        recordNanoseconds(Int64(clamping: Int128(duration.attoseconds / 1_000_000_000)))
    }
}
#endif
