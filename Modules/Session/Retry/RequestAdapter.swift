public import LinnetSerialization

/// Changes requests on their way out: signs them, dates them, adds what every attempt needs anew.
///
/// Adapters stand below the retries and above the redirects: they are called for each attempt, but not for each redirect.
/// Of what they add to one origin's request, credentials do not get to another's, as ``RedirectPolicy`` says.
public protocol RequestAdapter: Sendable {
    /// Returns the request to send. What it throws fails the request as an ``Interceptor``'s error does.
    func adapt(_ request: Request) async throws -> Request
}

/// The link that calls the adapters, in order.
struct AdapterInterceptor: Interceptor {
    let adapters: [any RequestAdapter]

    func intercept(_ request: Request, next: Next) async throws -> EngineResponse {
        var request = request
        for adapter in adapters { request = try await adapter.adapt(request) }
        return try await next(request)
    }
}
