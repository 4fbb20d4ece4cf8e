import Synchronization
import Tracing

/// The place of a span in a trace (W3C Trace Context), and the caller's fields that are passed on.
package struct TraceContext: Sendable {
    var trace: UInt128
    var span: UInt64
    /// The caller's field for other vendors.
    package var state: String?
    package var baggage: String?

    /// A new trace.
    init() {
        trace = UInt128(Self.makeID()) << 64 | UInt128(Self.makeID())
        span = Self.makeID()
    }

    /// The context of a caller; nil for a new trace. Fields above the sizes that W3C asks for are dropped.
    package init?(traceparent: String, tracestate: String?, baggage: String?) {
        let parts = traceparent.utf8.prefix(56).split(separator: UInt8(ascii: "-")).map { Substring($0) }
        guard parts.map(\.utf8.count) == [2, 32, 16, 2], parts[0] == "00", traceparent.utf8.count == 55,
            parts.allSatisfy({ $0.utf8.allSatisfy("0123456789abcdef".utf8.contains) }),
            let trace = UInt128(parts[1], radix: 16), let span = UInt64(parts[2], radix: 16), trace > 0, span > 0
        else { return nil }
        self.trace = trace
        self.span = span
        state = tracestate.flatMap { $0.utf8.count <= 512 ? $0 : nil }
        self.baggage = baggage.flatMap { $0.utf8.count <= 8192 ? $0 : nil }
    }

    private static let counter = Atomic<UInt64>(.random(in: .min ... .max))

    /// The next of a sequence of numbers above 0 that look random (SplitMix64), without a system call for each.
    private static func makeID() -> UInt64 {
        var id = counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        id = (id ^ (id >> 30)) &* 0xBF58_476D_1CE4_E5B9
        id = (id ^ (id >> 27)) &* 0x94D0_49BB_1331_11EB
        return max(1, id ^ (id >> 31))
    }

    /// A context of the same trace for a span of its own.
    var child: TraceContext {
        var child = self
        child.span = Self.makeID()
        return child
    }

    /// The share of all traces to which a trace belongs, from 0 to 1. It is the same in each program, so that a trace
    /// is logged by all of them or by none. A caller's flag is no reason to log: a stranger could fill the log.
    var share: Double { Double(UInt64(truncatingIfNeeded: trace) >> 11) * 0x1p-53 }

    func traceparent(isSampled: Bool) -> String { "00-\(traceText)-\(Self.text(span))-\(isSampled ? "01" : "00")" }
    var traceText: String { Self.text(trace) }

    /// All hexadecimal digits of a number.
    static func text<Number: FixedWidthInteger>(_ number: Number) -> String {
        let count = Number.bitWidth / 4
        return String(unsafeUninitializedCapacity: count) { digits in
            for place in 0..<count {
                let digit = UInt8(truncatingIfNeeded: number >> Number(4 * (count - 1 - place))) & 0xF
                digits[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return count
        }
    }
}

/// The context of a caller's trace, or of a span.
enum TraceContextKey: InstrumentationContextKey {
    typealias Value = TraceContext
}

extension InstrumentationContext {
    var trace: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }
}
