import FoundationEssentials
import Linnet

/// The displayed facts about the last response of the timeline.
struct ResponseFacts: Codable, Hashable, Sendable {
    var status: Int
    var url: String
    /// The protocol and the encryption of the connection; nil for a response of the cache.
    var httpVersion: String?
    var encryption: String?
    var isPinned = false
    /// The pins of the verified chain, leaf first.
    var pins: [String] = []
    /// The part of the cache in the response, such as `hit`.
    var cache: String?
    var attempts = 0
    /// The table of the attempts' timings, in lines.
    var timings: [String] = []

    init<Value>(_ response: SessionResponse<Value>) {
        status = response.status.code
        url = response.url.absoluteString
        cache = response.cacheOutcome?.description
        attempts = response.metrics.count
        guard let metrics = response.metrics.last else { return }
        httpVersion = metrics.httpVersion
        encryption = metrics.tlsVersion.map { [$0, metrics.tlsCipher].compactMap { $0 }.joined(separator: " ") }
        isPinned = metrics.isPinned
        pins = metrics.verifiedPins
        timings = response.metrics.map(Self.timings).flatMap { $0 }
    }

    /// One line for each step of an attempt that took time.
    private static func timings(_ metrics: TransportMetrics) -> [String] {
        let steps: [(String, Duration?)] = [
            ("waiting", metrics.queue?.duration), ("resolving", metrics.nameResolution?.duration),
            ("connecting", metrics.connect?.duration), ("TLS", metrics.tlsHandshake?.duration),
            ("total", metrics.total),
        ]
        let connection = "connection \(metrics.connectionID), \(metrics.isReusedConnection ? "reused" : "new")"
        let lines = steps.compactMap { name, duration in
            duration.map { "  " + name.padded(to: 12) + Figures.milliseconds($0) }
        }
        return [connection] + lines + ["  " + "received".padded(to: 12) + Figures.bytes(metrics.responseBodyBytes)]
    }
}

extension String {
    /// The text with spaces up to a number of characters.
    func padded(to count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
