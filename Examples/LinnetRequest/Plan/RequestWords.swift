import ExampleSupport
import FoundationEssentials
import Linnet

/// The words of a command line beside its options: a method, a URL, and items.
struct RequestWords {
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE",
    ]

    let method: HTTPRequest.Method?
    let url: URL
    let items: [RequestItem]

    init(_ words: [String]) throws {
        var words = words[...]
        let name = words.first?.uppercased() ?? ""
        method = Self.methods.contains(name) && words.count > 1 ? HTTPRequest.Method(name) : nil
        if method != nil { words.removeFirst() }
        guard let text = words.popFirst() else {
            throw UsageError("Specify a URL, such as \"linnet example.com\". See --help.")
        }
        let items = try words.map(RequestItem.init)
        url = try Self.url(text, query: items.compactMap(\.queryEntry))
        self.items = items
    }

    private static func url(_ text: String, query: [ParameterValue.Entry]) throws -> URL {
        guard var parts = URLComponents(string: complete(text)), let scheme = webScheme(&parts),
            ["http", "https"].contains(scheme), parts.host?.isEmpty == false
        else {
            throw UsageError(
                "\"\(text)\" is not an http or https URL with a host; the format is https://example.com/.")
        }
        if !query.isEmpty {
            var encoder = QueryEncoder()
            encoder.sortsKeys = false
            let more = try encoder.encode(RequestParameters(query))
            parts.percentEncodedQuery = [parts.percentEncodedQuery, more].compactMap { $0 }.joined(separator: "&")
        }
        guard let url = parts.url else { throw UsageError("\"\(text)\" is not a URL.") }
        return url
    }

    /// The scheme in lower case; http and https in place of ws and wss.
    private static func webScheme(_ parts: inout URLComponents) -> String? {
        if let scheme = parts.scheme?.lowercased(), ["ws", "wss"].contains(scheme) {
            parts.scheme = scheme == "ws" ? "http" : "https"
        }
        return parts.scheme?.lowercased()
    }

    /// Adds the scheme: https, except to this machine.
    private static func complete(_ text: String) -> String {
        if text.contains("://") { return text }
        if text.hasPrefix(":") { return "http://localhost" + text }
        let authority = text.prefix { !"/?#".contains($0) }
        let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        let isLocal = ["localhost", "127.0.0.1", "[::1]"].contains(String(host)) || host.hasSuffix(".localhost")
        return (isLocal ? "http://" : "https://") + text
    }
}
