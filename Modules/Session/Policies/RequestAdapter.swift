public import LinnetSerialization

/// Changes outgoing requests, for example to date each attempt.
///
/// Adapters run below the retries and above the redirects: they are called for each attempt, but not for each redirect.
/// Their credentials are not sent to another origin; see ``RedirectPolicy``. Cookies, credentials and conditions of the
/// cache are added later, so a ``RequestSigner`` signs requests.
public protocol RequestAdapter: Sendable {
    /// Returns the request to send. An error fails the request like an ``Interceptor``'s error.
    func adapt(_ request: SessionRequest) async throws -> SessionRequest
}
