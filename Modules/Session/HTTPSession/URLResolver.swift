internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetTransport

/// Resolves the URLs of calls against a base (RFC 3986, section 5): a path, a path from the host's root, or a whole
/// URL, which ignores the base.
package struct URLResolver: Sendable {
    let baseURL: URL?
    /// The base as text, if appending to it gives the same result as resolving against it.
    private let prefix: String?
    private let base: URIReference?
    private let origin: Origin?

    /// Appends a slash to a base with a path. Refuses a base without https if the policy pins, or forbids clear text to
    /// the host.
    init(baseURL: URL?, policy: SecurityPolicy) throws(SessionError) {
        self.baseURL = try baseURL.map { base throws(SessionError) in try Self.directory(base.absoluteURL) }
        guard !policy.isPinning || self.baseURL.map({ $0.scheme?.lowercased() == "https" }) ?? true else {
            throw SessionError(
                .invalidConfiguration, "A security policy that pins needs a base URL with https.", url: baseURL)
        }
        base = self.baseURL.map { URIReference($0.absoluteString) }
        origin = try self.baseURL.map { base throws(SessionError) in try Origin(base) }
        if let origin, let host = self.baseURL?.host(), origin.scheme == "http", !policy.allowsCleartext(to: host) {
            let message = "The security policy does not let clear text go to \(host): the base URL must be https."
            throw SessionError(
                .invalidConfiguration, message, underlying: TransportError(.cleartextRefused, message), url: baseURL)
        }
        prefix = self.baseURL.flatMap { base in
            let text = base.absoluteString
            return text.utf8.last == UInt8(ascii: "/") && base.query == nil && base.fragment == nil ? text : nil
        }
    }

    func url(for text: String) throws(SessionError) -> URL {
        // The base was checked, and a plain path cannot change the scheme or the host.
        if let prefix, Self.isPlain(text), let url = URL(string: prefix + text) { return url }
        let reference = URIReference(text)
        let target = base.map { reference.resolved(against: $0) } ?? reference
        guard let url = URL(string: target.text), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            !reference.hasAmbiguousUserInfo
        else {
            throw SessionError(.invalidURL, "\(Self.shown(text)) is not a URL.", url: baseURL)
        }
        guard Self.isHTTP(url) else {
            throw SessionError(
                .invalidURL, "\(Self.shown(text)) does not lead to an http or https URL with a host.", url: url)
        }
        return url
    }

    /// The text for a message, redacted if it parses as a URL: it may contain a password or a token.
    private static func shown(_ text: String) -> String {
        URL(string: text).map { Redaction.standard.text(of: $0).debugDescription } ?? "The text"
    }

    /// Whether a URL has another origin than the base.
    func leadsElsewhere(_ url: URL) -> Bool {
        guard let origin else { return false }
        if let prefix, url.absoluteString.hasPrefix(prefix) { return false }
        return (try? Origin(url)) != origin
    }

    private static func isHTTP(_ url: URL) -> Bool {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else { return false }
        return url.host()?.isEmpty == false
    }

    private static func directory(_ url: URL) throws(SessionError) -> URL {
        guard isHTTP(url) else {
            throw SessionError(.invalidURL, "The base URL is not an http or https URL with a host.", url: url)
        }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true), !parts.percentEncodedPath.isEmpty,
            !parts.percentEncodedPath.hasSuffix("/")
        else { return url }
        parts.percentEncodedPath += "/"
        return parts.url ?? url
    }

    /// Whether the text is a path below the base and nothing in it needs resolving or encoding.
    package static func isPlain(_ text: String) -> Bool {
        var previous = UInt8(ascii: "/")
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                break
            case UInt8(ascii: "/"), UInt8(ascii: "."):
                // Empty segments and dot segments need resolving.
                if previous == UInt8(ascii: "/") { return false }
            default:
                return false
            }
            previous = byte
        }
        return true
    }
}
