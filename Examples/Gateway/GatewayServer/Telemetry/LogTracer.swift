import Logging
package import Tracing

/// A tracer whose finished spans are lines of the log.
package struct LogTracer: Tracer {
    let logger: Logger
    /// The share of the traces that are logged.
    let ratio: Double

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> LogSpan {
        var context = context()
        let parent = context.trace
        let own = parent?.child ?? TraceContext()
        context.trace = own
        let isLogged = own.share < ratio
        return LogSpan(
            operationName, context, parent: parent?.span, kind: kind,
            start: isLogged ? instant().nanosecondsSinceEpoch : 0, logger: isLogged ? logger : nil)
    }

    package func forceFlush() {}

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier) else { return }
        context.trace = TraceContext(
            traceparent: parent, tracestate: extractor.extract(key: "tracestate", from: carrier),
            baggage: extractor.extract(key: "baggage", from: carrier))
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.traceparent(isSampled: trace.share < ratio), forKey: "traceparent", into: &carrier)
        if let state = trace.state { injector.inject(state, forKey: "tracestate", into: &carrier) }
        if let baggage = trace.baggage { injector.inject(baggage, forKey: "baggage", into: &carrier) }
    }
}
