public import FoundationEssentials
public import HTTPTypes
internal import LinnetMessages
public import LinnetSerialization

/// Decides which redirects a session follows.
///
/// Redirects are followed by RFC 9110, section 15.4: 303 changes the method to GET, and so do 301 and 302 after POST;
/// otherwise the method and the body are kept. Redirects from https to http, and from elsewhere to a host of
/// `TransportConfiguration.Resolution.unixSockets`, are never followed. Fields with secrets, such as `Authorization`,
/// `Cookie`, `X-Api-Key` and `Private-Token`, are not sent to another origin; `Redaction.standard` and the session's
/// own `redaction` define them. Other fields and the body are.
public struct RedirectPolicy: Sendable, Hashable {
    /// The maximum number of redirects of one request; 0 follows none, so that the redirect is the response. The
    /// default is 20. Exceeding it is ``SessionError/Code/tooManyRedirects``.
    public var limit: Int
    /// Whether redirects to another origin are refused.
    public var staysAtOrigin: Bool

    private init(limit: Int, staysAtOrigin: Bool) {
        self.limit = max(0, limit)
        self.staysAtOrigin = staysAtOrigin
    }

    /// Follows up to 20 redirects. This is the default of a session.
    public static let follow = RedirectPolicy.follow(limit: 20)

    /// Follows up to this many redirects of one request; a further one fails with
    /// ``SessionError/Code/tooManyRedirects``.
    public static func follow(limit: Int) -> RedirectPolicy {
        RedirectPolicy(limit: limit, staysAtOrigin: false)
    }

    /// Follows redirects to the same scheme, host and port; others fail with ``SessionError/Code/redirectRefused``.
    public static func sameOrigin(limit: Int = 20) -> RedirectPolicy {
        RedirectPolicy(limit: limit, staysAtOrigin: true)
    }

    /// Follows no redirects: the redirect is the response. By default, validation rejects its status.
    public static let doNotFollow = RedirectPolicy(limit: 0, staysAtOrigin: false)
}

extension RedirectPolicy {
    /// A hook's decision on a redirect.
    public enum Decision: Sendable {
        /// Follow it with this request, which may be the proposed one or a changed one.
        case follow(SessionRequest)
        /// Do not follow it: the redirect is the response.
        case doNotFollow
    }
}

/// A redirect that was, or is about to be, followed (RFC 9110, section 15.4).
public struct HTTPRedirect: Sendable, Hashable {
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
