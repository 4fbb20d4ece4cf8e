public import FoundationEssentials
public import LinnetMessages

extension Origin {
    /// The origin of a URL.
    ///
    /// Fails with ``SessionError/Code/invalidURL`` when the URL is not http or https with a host.
    public init(_ url: URL) throws(SessionError) {
        self = try RequestTarget(url).origin
    }
}
