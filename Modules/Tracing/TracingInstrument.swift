#if Tracing
internal import HTTPTypes
internal import LinnetMessages
public import LinnetSession
internal import LinnetTransport
public import Tracing

/// Makes a span of each sending of a request, through swift-distributed-tracing, by OpenTelemetry's conventions for
/// HTTP clients, and passes the context of the trace on in the header fields of the tracer's choice, such as
/// `traceparent`.
///
/// ```swift
/// InstrumentationSystem.bootstrap(tracer)
/// let session = try HTTPSession { $0.instruments = [.tracing] }
/// ```
/// The parent of a span is the current context of the task that sends the request. <doc:LinnetTracing> lists the
/// attributes. URLs are redacted with the session's `Redaction`; header fields and bodies are in no attribute.
public struct TracingInstrument: LinnetSession.Instrument {
    /// The largest size in bytes of a header field that a tracer may add, as W3C's baggage needs. The default is 8,192,
    /// which cannot be changed. Beyond it, the field is left out.
    public static let maximumFieldSize = 8_192

    private let given: (any Tracer)?

    /// Creates an instrument.
    ///
    /// - Parameter tracer: Makes the spans. The default is the current one of swift-distributed-tracing, which is
    ///   read for each request.
    public init(tracer: (any Tracer)? = nil) {
        given = tracer
    }

    private var tracer: any Tracer { given ?? InstrumentationSystem.tracer }

    /// Starts a span, and ends it with the sending.
    public func willSend(_ request: inout InstrumentedRequest) -> (@Sendable (SendOutcome) -> Void)? {
        let (tracer, method) = (tracer, request.conventionalMethod)
        let verb = method == "_OTHER" ? "HTTP" : method
        let span = tracer.startAnySpan(
            request.template.map { "\(verb) \($0)" } ?? verb, context: .current ?? .topLevel, ofKind: .client)
        tracer.inject(span.context, into: &request.headerFields, using: FieldInjector())
        return { [request] outcome in
            if span.isRecording {
                span.add(SpanAttributes(request, outcome))
                if outcome.errorType != nil { span.setStatus(SpanStatus(code: .error)) }
            }
            span.end()
        }
    }

    /// Makes a span of an answer of the cache, and an event of another decision in the current span.
    public func didDecide(_ decision: TaskEvent.Decision, on request: InstrumentedRequest) {
        guard let context = InstrumentationContext.current ?? (decision.isAnswer ? .topLevel : nil) else { return }
        if case .cache(let outcome) = decision {
            guard decision.isAnswer else { return }
            let span = tracer.startAnySpan("cache \(outcome)", context: context, ofKind: .internal)
            var attributes = SpanAttributes(request)
            attributes["linnet.cache.outcome"] = "\(outcome)"
            span.add(attributes)
            span.end()
        } else {
            tracer.activeAnySpan(of: context)?.addEvent(decision.event)
        }
    }
}

extension LinnetSession.Instrument where Self == TracingInstrument {
    /// Makes spans through the current tracer of swift-distributed-tracing; see ``TracingInstrument``.
    public static var tracing: TracingInstrument { TracingInstrument() }

    /// Makes spans through a tracer; see ``TracingInstrument``.
    public static func tracing(tracer: any Tracer) -> TracingInstrument { TracingInstrument(tracer: tracer) }
}

/// Writes a tracer's fields, and leaves out invalid and long ones: a caller's baggage cannot spoil the request.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout HTTPFields) {
        guard value.utf8.count <= TracingInstrument.maximumFieldSize, let name = HTTPField.Name(key) else { return }
        let field = HTTPField(name: name, value: value)
        // The field has another value if this one is not valid.
        guard field.value == value else { return }
        carrier[fields: name] = [field]
    }
}

extension Tracing.Span {
    /// Adds attributes. A span without any takes them as they are, which a merge would hash again.
    fileprivate func add(_ added: SpanAttributes) {
        if attributes.isEmpty { attributes = added } else { attributes.merge(added) }
    }
}

extension Tracer {
    fileprivate func activeAnySpan(of context: InstrumentationContext) -> (any Tracing.Span)? {
        activeSpan(identifiedBy: context)
    }
}

extension TaskEvent.Decision {
    /// Whether the cache answered with a stored response.
    fileprivate var isAnswer: Bool {
        switch self {
        case .cache(.hit), .cache(.revalidated), .cache(.stale): true
        default: false
        }
    }

    fileprivate var event: SpanEvent {
        let attributes: SpanAttributes =
            switch self {
            case .retry(let attempt, let delay):
                ["linnet.attempt": .int64(Int64(attempt)), "linnet.delay": .double(delay / .seconds(1))]
            case .hedge(let attempt): ["linnet.attempt": .int64(Int64(attempt))]
            default: [:]
            }
        return SpanEvent(name: "linnet.\(name)", attributes: attributes)
    }
}
#endif
