public import FoundationEssentials
public import HTTPTypes

/// A redirect that was, or is about to be, followed (RFC 9110, section 15.4).
public struct Redirect: Sendable, Hashable {
    /// Status and header fields of the response that redirects.
    public var head: HTTPResponse
    /// The URL of that response, without user name and password.
    public var url: URL
    /// The URL that it redirects to, without user name and password.
    public var target: URL

    /// Makes a redirect; for tests and previews.
    public init(head: HTTPResponse, url: URL, target: URL) {
        self.head = head
        self.url = url.withoutUserInfo
        self.target = target.withoutUserInfo
    }

    /// The status, which determines how it is followed.
    public var status: HTTPResponse.Status { head.status }
}
