public import HTTPTypes

extension Proxy {
    /// The answer of a proxy that refuses to connect to an origin. It underlies a ``TransportError`` with
    /// ``TransportError/Code/proxyRefused``.
    public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
        /// The status of an HTTP proxy's response to CONNECT; nil for SOCKS.
        public let status: HTTPResponse.Status?
        /// The first bytes of the response's body, up to 1,024, as text; empty for SOCKS. They come from the proxy, and
        /// are untrusted.
        public let page: String
        /// The reason, as the end of a sentence.
        public let description: String

        /// A refusal of a SOCKS proxy.
        init(_ reason: String) {
            status = nil
            page = ""
            description = reason
        }

        /// A refusal of an HTTP proxy.
        init(_ status: HTTPResponse.Status, page: String) {
            self.status = status
            self.page = page
            let phrase = status.reasonPhrase.isEmpty ? "" : " " + status.reasonPhrase
            description = "status \(status.code)\(phrase)"
        }
    }
}
