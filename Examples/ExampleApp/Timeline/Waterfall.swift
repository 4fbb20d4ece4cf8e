import Linnet

/// The last requests on one axis of time: the last one, and the ones before it without a pause of a second.
struct Waterfall: Sendable, Equatable {
    /// A request, whose bars have places from 0 to 1.
    struct Row: Sendable, Equatable {
        let name: String
        let figures: String
        let bars: [Bar]
    }

    struct Bar: Sendable, Equatable {
        let part: RequestTrace.Part
        let start: Double
        let end: Double
    }

    let rows: [Row]

    init(_ requests: [RequestTrace]) {
        let last = Self.burst(requests)
        let start = last.first?.start ?? .now
        let duration = (last.map(\.end).max() ?? start) - start
        let place = { (time: ContinuousClock.Instant) in max(0, min(1, (time - start) / max(duration, .nanoseconds(1))))
        }
        rows = last.map { request in
            let bars = request.bars.map { Bar(part: $0.part, start: place($0.start), end: place($0.end)) }
            return Row(name: request.name, figures: request.figures, bars: bars)
        }
    }

    private static func burst(_ requests: [RequestTrace]) -> [RequestTrace] {
        var burst: [RequestTrace] = []
        for request in requests.sorted(by: { $0.start < $1.start }) {
            if let end = burst.map(\.end).max(), request.start - end > .seconds(1) { burst = [] }
            burst.append(request)
        }
        return burst
    }
}
