public import LinnetSerialization

/// Changes outgoing requests, for example to sign or date each attempt.
///
/// Adapters run below the retries and above the redirects: they are called for each attempt, but not for each redirect.
/// Credentials that they add are not sent to another origin; see ``RedirectPolicy``.
public protocol RequestAdapter: Sendable {
    /// Returns the request to send. An error fails the request as an ``Interceptor``'s error does.
    func adapt(_ request: Request) async throws -> Request
}

/// The link that calls the adapters, in order.
struct AdapterInterceptor: Interceptor {
    let adapters: [any RequestAdapter]

    func intercept(_ request: Request, next: Next) async throws -> StreamedResponse {
        var request = request
        for adapter in adapters { request = try await adapter.adapt(request) }
        for adapter in next.exchange.own?.adapters ?? [] { request = try await adapter.adapt(request) }
        next.exchange.record?.adapt(request)
        return try await next(request)
    }
}
