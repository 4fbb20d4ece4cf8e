import Logging
import Synchronization
package import Tracing

/// A span, logged when it ends if its trace is among those that are logged.
package final class LogSpan: Span {
    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var isError = false
        var hasEnded = false
    }

    package let context: InstrumentationContext
    private let parent: UInt64?
    private let kind: SpanKind
    private let start: UInt64
    private let logger: Logger?
    private let state: Mutex<State>

    /// - Parameter logger: Nil for a span that is not logged.
    init(
        _ name: String, _ context: InstrumentationContext, parent: UInt64?, kind: SpanKind, start: UInt64,
        logger: Logger?
    ) {
        self.context = context
        self.parent = parent
        self.kind = kind
        self.start = start
        self.logger = logger
        state = Mutex(State(name: name))
    }

    package var isRecording: Bool { logger != nil }

    package var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { if isRecording { state.withLock { $0.attributes = newValue } } }
    }

    package func setStatus(_ status: SpanStatus) { state.withLock { $0.isError = status.code == .error } }

    // The log has the status and `error.type`; events and links are for tracers with a place for them.
    package func addEvent(_ event: SpanEvent) {}
    package func addLink(_ link: SpanLink) {}
    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        setStatus(SpanStatus(code: .error))
    }

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let logger, let trace = context.trace else { return }
        let ended = state.withLock { state in
            defer { state.hasEnded = true }
            return state
        }
        guard !ended.hasEnded else { return }
        let end = instant().nanosecondsSinceEpoch
        var metadata: Logger.Metadata = [
            "trace_id": "\(trace.traceText)", "span_id": "\(TraceContext.text(trace.span))", "kind": "\(kind)",
            "duration_ms": "\(Double(end - min(start, end)) * 1e-6)",
        ]
        if let parent { metadata["parent_id"] = "\(TraceContext.text(parent))" }
        if ended.isError { metadata["status"] = "error" }
        ended.attributes.forEach { key, value in
            switch value {
            case .string(let text): metadata[key] = "\(text.prefix(256))"
            case .int64(let number): metadata[key] = "\(number)"
            case .bool(let isTrue): metadata[key] = "\(isTrue)"
            default: break
            }
        }
        logger.info("\(ended.name)", metadata: metadata)
    }
}
