#if Metrics
internal import Synchronization

/// Labels of a metric.
protocol SeriesLabels: Hashable, Sendable {
    /// Names and values, in the order of the conventions.
    var dimensions: [(String, String)] { get }
}

/// The series of a metric by their labels, of which there are at most a given number. Further labels share one.
final class SeriesTable<Labels: SeriesLabels, Series: Sendable>: Sendable {
    private let limit: Int
    private let make: @Sendable ([(String, String)]) -> Series
    private let state = Mutex(State())

    private struct State {
        var series: [Labels: Series] = [:]
        var overflow: Series?
    }

    init(limit: Int, _ make: @escaping @Sendable ([(String, String)]) -> Series) {
        self.limit = max(1, limit)
        self.make = make
    }

    subscript(labels: Labels) -> Series {
        state.withLock { state in
            if let series = state.series[labels] { return series }
            guard state.series.count < limit else {
                let overflow = state.overflow ?? make([("otel.metric.overflow", "true")])
                state.overflow = overflow
                return overflow
            }
            let series = make(labels.dimensions)
            state.series[labels] = series
            return series
        }
    }
}
#endif
