import ExampleSupport
import FoundationEssentials
import Linnet

/// Formats a timeline for an output that is no screen.
enum TimelinePrinter {
    private struct Document: Encodable {
        let posts: [Post]
        let response: ResponseFacts
    }

    /// One line per post, and the facts of the response.
    static func lines(_ response: SessionResponse<Timeline>) -> [String] {
        let (count, facts) = (response.value.data.count, ResponseFacts(response))
        let parts = [count == 1 ? "1 post" : "\(count) posts"] + facts.words + facts.pins.prefix(1) + facts.timings
        return response.value.data.map(line) + [OneLine.text(parts.joined(separator: " · "))]
    }

    /// The posts, and the facts of the response, as one JSON object.
    static func json(_ response: SessionResponse<Timeline>) throws -> String {
        var encoder = JSONBodyEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let document = Document(posts: response.value.data, response: ResponseFacts(response))
        return TerminalJSON.text(String(decoding: try encoder.encode(document), as: UTF8.self))
    }

    /// `@username: text` on one line, with control characters replaced.
    static func line(_ post: Post) -> String {
        "@\(OneLine.text(post.user.username)): \(OneLine.text(post.text))"
    }
}
