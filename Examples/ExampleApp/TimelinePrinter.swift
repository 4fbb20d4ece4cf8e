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
        let (metrics, facts) = (response.metrics.last ?? TransportMetrics(), ResponseFacts(response))
        let parts = [
            response.value.count == 1 ? "1 post" : "\(response.value.count) posts", facts.httpVersion ?? "http/1.1",
            facts.encryption ?? "not encrypted", facts.isPinned ? "pinned \(facts.pins.first ?? "")" : "not pinned",
            Figures.bytes(metrics.responseBodyBytes), timings(metrics),
        ]
        return parts.joined(separator: " · ")
    }

    private static func timings(_ metrics: TransportMetrics) -> String {
        let steps = [
            ("connect", metrics.connect?.duration), ("TLS", metrics.tlsHandshake?.duration), ("total", metrics.total),
        ]
        return steps.compactMap { name, duration in duration.map { "\(name) \(Figures.milliseconds($0))" } }
            .joined(separator: ", ")
    }
}
