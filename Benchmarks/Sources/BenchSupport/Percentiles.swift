/// The latencies in microseconds that 50 %, 99 % and 99.9 % of the requests do not exceed.
package struct Percentiles: Sendable {
    let p50, p99, p999: Double

    /// - Parameter latencies: In seconds, in any order.
    init(_ latencies: [Double]) {
        let sorted = latencies.sorted()
        // The nearest rank, which is a latency that was measured.
        func percentile(_ share: Double) -> Double {
            let rank = max(1, Int((share * Double(sorted.count)).rounded(.up)))
            return sorted.isEmpty ? 0 : sorted[rank - 1] * 1e6
        }
        (p50, p99, p999) = (percentile(0.5), percentile(0.99), percentile(0.999))
    }

    /// Members of a JSON object.
    var json: String { "\"p50\": \(p50), \"p99\": \(p99), \"p99.9\": \(p999)" }
}
