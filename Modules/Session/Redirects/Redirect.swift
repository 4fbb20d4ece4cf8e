public import FoundationEssentials
public import HTTPTypes

/// A redirect that was, or is about to be, followed (RFC 9110, section 15.4).
public struct Redirect: Sendable, Hashable {
    /// Status and header fields of the response that redirects.
    public var head: HTTPResponse
    /// Where that response came from, without user name and password.
    public var url: URL
    /// Where it leads, without user name and password.
    public var target: URL

    /// Makes a redirect; for tests and previews.
    public init(head: HTTPResponse, url: URL, target: URL) {
        self.head = head
        self.url = url.withoutUserInfo
        self.target = target.withoutUserInfo
    }

    /// The status that says how to follow it.
    public var status: HTTPResponse.Status { head.status }
}
