import FoundationEssentials
import HTTPTypes
import Linnet

/// The times of one request, or of a response of the cache.
struct RequestTrace: Sendable, Equatable {
    /// A part of a request that takes time.
    enum Part: String, CaseIterable, Sendable {
        case wait
        case resolve = "DNS"
        case connect
        case handshake = "TLS"
        case firstByte = "first byte"
        case body

        /// The red, green and blue of its bars.
        var color: [UInt8] {
            switch self {
            case .wait: [154, 153, 150]
            case .resolve: [46, 194, 126]
            case .connect: [255, 163, 72]
            case .handshake: [192, 97, 203]
            case .firstByte: [53, 132, 228]
            case .body: [153, 193, 241]
            }
        }
    }

    /// A part with its place in time.
    struct Bar: Sendable, Equatable {
        let part: Part
        let start: ContinuousClock.Instant
        let end: ContinuousClock.Instant
    }

    /// The method, and the last component of the path.
    let name: String
    /// The status, the reason of a failure, or the part of the cache.
    let outcome: String
    let start: ContinuousClock.Instant
    /// The bars, in their order; none for a response of the cache.
    let bars: [Bar]

    var end: ContinuousClock.Instant { bars.last?.end ?? start }

    /// The outcome, the duration, and the duration of each part.
    var figures: String {
        guard !bars.isEmpty else { return outcome }
        let parts = bars.map { "\($0.part.rawValue) \(Figures.milliseconds($0.end - $0.start))" }
        return "\(outcome), \(Figures.milliseconds(end - start)): " + parts.joined(separator: ", ")
    }
}

extension RequestTrace {
    /// The times of the attempt that led to an outcome.
    init(name: String, _ outcome: SendOutcome, now: ContinuousClock.Instant = .now) {
        let metrics = outcome.attempts.last ?? TransportMetrics()
        let spans: [(Part, ContinuousClock.Instant?, ContinuousClock.Instant?)] = [
            (.wait, metrics.queue?.start, metrics.queue?.end),
            (.resolve, metrics.nameResolution?.start, metrics.nameResolution?.end),
            (.connect, metrics.connect?.start, metrics.connect?.end),
            (.handshake, metrics.tlsHandshake?.start, metrics.tlsHandshake?.end),
            (.firstByte, metrics.requestStart, metrics.responseStart),
            (.body, metrics.responseStart, metrics.responseEnd),
        ]
        self.init(
            name: name, outcome: outcome.errorType ?? outcome.head.map { "\($0.status.code)" } ?? "ended",
            start: metrics.start ?? now,
            bars: spans.compactMap { part, start, end in
                guard let start, let end, end > start else { return nil }
                return Bar(part: part, start: start, end: end)
            })
    }
}
