public import LinnetSerialization

/// Which redirects a session follows.
///
/// Whatever is followed, is followed by the rules of RFC 9110, section 15.4: 303 leads to GET, and so do 301 and 302 after
/// POST; otherwise method and body stay. From https to http nothing is followed. `Authorization`, `Cookie` and
/// `Proxy-Authorization` stay at the origin that they were meant for, and so do `Api-Key`, `X-Api-Key`, `X-Auth-Token` and
/// `X-Csrf-Token`; other fields, and a body, go along.
public struct RedirectPolicy: Sendable, Hashable {
    /// How many redirects of one request are followed; 0 for none.
    public var limit: Int
    /// Whether those that lead to another origin are refused.
    public var staysAtOrigin: Bool

    private init(limit: Int, staysAtOrigin: Bool) {
        self.limit = max(0, limit)
        self.staysAtOrigin = staysAtOrigin
    }

    /// Follows up to 20 redirects. This is the default of a session.
    public static let follow = RedirectPolicy.follow(limit: 20)

    /// Follows so many redirects of one request; one more fails with ``SessionError/Code/tooManyRedirects``.
    public static func follow(limit: Int) -> RedirectPolicy {
        RedirectPolicy(limit: limit, staysAtOrigin: false)
    }

    /// Follows redirects to the same scheme, host and port; others fail with ``SessionError/Code/redirectRefused``.
    public static func sameOrigin(limit: Int = 20) -> RedirectPolicy {
        RedirectPolicy(limit: limit, staysAtOrigin: true)
    }

    /// Follows none: the response that redirects is the response. Its status is one that validation refuses unless it is
    /// told otherwise.
    public static let doNotFollow = RedirectPolicy(limit: 0, staysAtOrigin: false)
}

/// What a hook says of a redirect.
public enum RedirectDecision: Sendable {
    /// Follow it, by this request, which may be the one that was proposed or a changed one.
    case follow(Request)
    /// Do not: the response that redirects is the response.
    case doNotFollow
}
