public import FoundationEssentials

/// The scheme, host and port of a URL (RFC 6454, section 4). Credentials of one origin are never sent to another.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case, and the port unless it is the scheme's own.
    public let authority: String

    /// The origin of a URL.
    ///
    /// Fails with ``SessionError/Code/invalidURL`` when the URL is not http or https with a host.
    public init(_ url: URL) throws(SessionError) {
        self.init(try WireTarget(url))
    }

    init(_ target: WireTarget) {
        scheme = target.scheme
        authority = target.authority
    }

    /// As it stands at the beginning of a URL.
    public var description: String { "\(scheme)://\(authority)" }
}
