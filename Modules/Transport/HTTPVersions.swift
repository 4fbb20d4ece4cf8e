/// Which versions of HTTP a connection may speak.
public enum HTTPVersions: Sendable, Hashable {
    /// What the server chooses: over TLS HTTP/2 or HTTP/1.1, agreed on by ALPN (RFC 7301); in clear text HTTP/1.1.
    case automatic
    /// HTTP/1.1 alone.
    case http1
    /// HTTP/2 alone. In clear text it begins at once, with the knowledge that the server speaks it (RFC 9113, 3.3).
    case http2
}
