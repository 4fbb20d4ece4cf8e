/// Which versions of HTTP a connection may speak.
public enum HTTPVersions: Sendable, Hashable {
    /// What the server chooses: over TLS HTTP/2 or HTTP/1.1, agreed on by ALPN (RFC 7301); in clear text HTTP/1.1.
    case automatic
    /// HTTP/1.1 alone.
    case http1
    /// HTTP/2 alone. In clear text it begins at once, with the knowledge that the server speaks it (RFC 9113, 3.3).
    case http2
}

extension HTTPVersions {
    /// What ALPN offers (RFC 7301), the preferred first.
    var applicationProtocols: [String] {
        switch self {
        case .automatic: ["h2", "http/1.1"]
        case .http1: ["http/1.1"]
        case .http2: ["h2"]
        }
    }
}
