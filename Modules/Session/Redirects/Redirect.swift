public import FoundationEssentials
public import HTTPTypes

/// A redirect that was, or is about to be, followed (RFC 9110, section 15.4).
public struct Redirect: Sendable, Hashable {
    /// The status and header fields of the redirecting response.
    public var head: HTTPResponse
    /// The URL of the redirecting response, without user name and password.
    public var url: URL
    /// The URL of the redirect's target, without user name and password.
    public var target: URL

    /// Creates a redirect, for tests and previews.
    public init(head: HTTPResponse, url: URL, target: URL) {
        self.head = head
        self.url = url.withoutUserInfo
        self.target = target.withoutUserInfo
    }

    /// The status, which determines how the redirect is followed.
    public var status: HTTPResponse.Status { head.status }
}
