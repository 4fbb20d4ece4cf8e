import ExampleSupport
import FoundationEssentials
import Linnet

/// The heads of messages as text.
enum HeadText {
    /// Returns the lines of a response's head, with the names of the fields as the server wrote them.
    static func lines(_ head: HTTPResponse, version: String?) -> [String] {
        let version = version == "h2" ? "HTTP/2" : "HTTP/1.1"
        let start = [version, "\(head.status.code)", head.status.reasonPhrase].filter { !$0.isEmpty }
        return [start.joined(separator: " ")] + head.headerFields.map { "\($0.name.rawName): \($0.value)" }
    }

    /// Returns the lines of a request's head, without credentials.
    static func lines(_ request: InstrumentedRequest) -> [String] {
        let redaction = Redaction.standard
        let url = redaction.text(of: request.url)
        let target = URL(string: url).map { url in
            (url.path(percentEncoded: true).isEmpty ? "/" : url.path(percentEncoded: true))
                + (url.query(percentEncoded: true).map { "?" + $0 } ?? "")
        }
        return ["\(request.method) \(target ?? "/")", "Host: \(request.origin.authority)"]
            + redaction.lines(of: request.headerFields)
    }

    /// Returns the text for standard output: in a terminal harmless, and otherwise with the line ends of HTTP.
    static func text(_ lines: [String], isTerminal: Bool = StandardStream.output.isTerminal) -> String {
        (lines + [""]).map { isTerminal ? OneLine.text($0) + "\n" : $0 + "\r\n" }.joined()
    }
}
