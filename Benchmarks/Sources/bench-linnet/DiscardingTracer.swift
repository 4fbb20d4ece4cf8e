import Synchronization
import Tracing

/// A tracer whose spans take attributes, as an exporter needs them, and are forgotten when they end: the cost of an
/// observed request without the cost of keeping it.
struct DiscardingTracer: Tracer {
    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> DiscardedSpan {
        DiscardedSpan(operationName, context())
    }

    func forceFlush() {}

    func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Carrier == Inject.Carrier {
        injector.inject(
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", forKey: "traceparent", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Carrier == Extract.Carrier {}
}

final class DiscardedSpan: Tracing.Span {
    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var status: SpanStatus?
        var isRecording = true
    }

    let context: InstrumentationContext
    private let state: Mutex<State>

    init(_ name: String, _ context: InstrumentationContext) {
        self.context = context
        state = Mutex(State(name: name))
    }

    var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    var isRecording: Bool { state.withLock { $0.isRecording } }

    func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        state.withLock { $0.isRecording = false }
    }

    func addLink(_ link: SpanLink) {}
    func addEvent(_ event: SpanEvent) {}
    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {}
}
