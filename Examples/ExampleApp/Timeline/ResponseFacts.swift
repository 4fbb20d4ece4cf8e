import FoundationEssentials
import Linnet

/// The displayed facts about the last response of the timeline.
struct ResponseFacts: Codable, Sendable {
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
    /// The number of attempts.
    var attempts = 0
    /// The timings of the attempts, in lines.
    var timings: [String] = []

    /// The facts about a response. One of the cache used no connection, and has the facts about the previous one.
    init<Value>(_ response: SessionResponse<Value>, after previous: ResponseFacts? = nil) {
        status = response.status.code
        url = response.url.absoluteString
        cache = response.cacheOutcome?.description
        attempts = response.metrics.count
        guard let metrics = response.metrics.last else {
            (httpVersion, encryption) = (previous?.httpVersion, previous?.encryption)
            (isPinned, pins) = (previous?.isPinned ?? false, previous?.pins ?? [])
            return
        }
        httpVersion = metrics.httpVersion
        encryption = metrics.tlsVersion.map { [$0, metrics.tlsCipher].compactMap { $0 }.joined(separator: " ") }
        isPinned = metrics.isPinned
        pins = metrics.verifiedPins
        timings = response.metrics.flatMap(Self.timings)
    }

    /// The connection and the cache in a few words.
    var words: [String] {
        [
            httpVersion ?? "no connection", isPinned ? "pinned" : "not pinned", cache.map { "cache \($0)" },
            encryption ?? "not encrypted",
        ].compactMap { $0 }
    }

    /// The connection, each step that took time, and the bytes of an attempt.
    private static func timings(_ metrics: TransportMetrics) -> [String] {
        let steps = [
            ("waiting", metrics.queue?.duration), ("resolving", metrics.nameResolution?.duration),
            ("connecting", metrics.connect?.duration), ("TLS", metrics.tlsHandshake?.duration),
            ("total", metrics.total),
        ]
        return ["connection \(metrics.connectionID), \(metrics.isReusedConnection ? "reused" : "new")"]
            + steps.compactMap { name, duration in duration.map { "\(name) \(Figures.milliseconds($0))" } }
            + ["received \(Figures.size(metrics.responseBodyBytes))"]
    }
}
