import ExampleSupport
import FoundationEssentials
import Linnet

/// Formats a timeline as lines of text.
enum TimelinePrinter {
    /// One line per post, and the summary.
    static func lines(_ response: SessionResponse<[Post]>) -> [String] {
        response.value.map(line) + [summary(response)]
    }

    /// The posts, and the facts of the response, as one JSON object.
    static func json(_ response: SessionResponse<[Post]>) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let document = Document(posts: response.value, response: ResponseFacts(response))
        return TerminalJSON.text(String(decoding: try encoder.encode(document), as: UTF8.self))
    }

    private struct Document: Encodable {
        let posts: [Post]
        let response: ResponseFacts
    }

    /// `@username: text` on one line, with control characters replaced.
    static func line(_ post: Post) -> String {
        "@\(OneLine.text(post.user.username)): \(OneLine.text(post.text))"
    }

    /// The number of posts, and the protocol, encryption, pinning, size and timings of the response.
    static func summary(_ response: SessionResponse<[Post]>) -> String {
        let metrics = response.metrics.last ?? TransportMetrics()
        let parts = [
            response.value.count == 1 ? "1 post" : "\(response.value.count) posts", metrics.httpVersion ?? "http/1.1",
            encryption(metrics), trust(metrics), Figures.bytes(metrics.responseBodyBytes), timings(metrics),
        ]
        return parts.joined(separator: " · ")
    }

    private static func encryption(_ metrics: TransportMetrics) -> String {
        guard let version = metrics.tlsVersion else { return "not encrypted" }
        return [version, metrics.tlsCipher].compactMap { $0 }.joined(separator: " ")
    }

    private static func trust(_ metrics: TransportMetrics) -> String {
        metrics.isPinned ? "pinned \(metrics.verifiedPins.first ?? "")" : "not pinned"
    }

    private static func timings(_ metrics: TransportMetrics) -> String {
        let steps = [
            ("connect", metrics.connect?.duration), ("TLS", metrics.tlsHandshake?.duration), ("total", metrics.total),
        ]
        return steps.compactMap { name, duration in duration.map { "\(name) \(Figures.milliseconds($0))" } }
            .joined(separator: ", ")
    }
}
