import CoreMetrics
import Synchronization

/// The values of one name with one set of labels.
final class PrometheusSeries: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    enum Kind: String {
        case counter, gauge, histogram
        var suffix: String { self == .counter ? "_total" : "" }
    }

    /// The bounds that OpenTelemetry advises for the durations of HTTP, and two below, in seconds.
    static let seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
    /// Bounds for sizes and counts.
    static let amounts = [0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

    private struct Values {
        /// The value, or the sum of the values of a histogram.
        var sum = 0.0
        /// The counts of values by bucket.
        var counts: [Int]
    }

    let kind: Kind
    private let bounds: [Double]
    private let values: Mutex<Values>

    init(_ kind: Kind, bounds: [Double]) {
        self.kind = kind
        self.bounds = bounds
        values = Mutex(Values(counts: kind == .histogram ? Array(repeating: 0, count: bounds.count + 1) : []))
    }

    func increment(by amount: Int64) { increment(by: Double(amount)) }
    func increment(by amount: Double) { values.withLock { $0.sum += amount } }
    func decrement(by amount: Double) { increment(by: -amount) }
    func reset() { set(0.0) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { values.withLock { $0.sum = value } }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) * 1e-9) }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) {
        guard kind == .histogram else { return set(value) }
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        values.withLock { values in
            values.counts[bucket] += 1
            values.sum += value
        }
    }

    /// The samples in Prometheus's text format.
    func lines(_ name: String, _ labels: String) -> String {
        let values = values.withLock { $0 }
        guard kind == .histogram else { return Self.line(name, labels, values.sum) }
        let others = labels.isEmpty ? "" : labels + ","
        var (text, total) = ("", 0)
        for (bound, count) in zip(bounds.map(Self.number) + ["+Inf"], values.counts) {
            total += count
            text += Self.line(name + "_bucket", #"\#(others)le="\#(bound)""#, Double(total))
        }
        return text + Self.line(name + "_sum", labels, values.sum) + Self.line(name + "_count", labels, Double(total))
    }

    private static func line(_ name: String, _ labels: String, _ value: Double) -> String {
        labels.isEmpty ? "\(name) \(number(value))\n" : "\(name){\(labels)} \(number(value))\n"
    }

    private static func number(_ value: Double) -> String { Int64(exactly: value).map { String($0) } ?? "\(value)" }
}
