/// A place in the chain that requests go down and responses come up.
struct Link: Sendable {
    let interceptor: any Interceptor
    /// Whether only requests that have hooks need it; the others pass it by.
    var isForHooksAlone = false

    /// All links above the transport's, from top to bottom.
    static func chain(_ configuration: HTTPSession.Configuration) -> [Link] {
        var links = configuration.interceptors.map { Link(interceptor: $0) }
        let retry = RetryInterceptor(
            policy: configuration.retryPolicy, retriers: configuration.retriers, clock: configuration.clock)
        links.append(
            Link(interceptor: retry, isForHooksAlone: retry.policy.limit <= 0 && retry.retriers.isEmpty))
        if !configuration.requestAdapters.isEmpty {
            links.append(Link(interceptor: AdapterInterceptor(adapters: configuration.requestAdapters)))
        }
        let redirects = RedirectInterceptor(policy: configuration.redirectPolicy)
        links.append(Link(interceptor: redirects, isForHooksAlone: redirects.policy.limit <= 0))
        // Here is the place of cookies, and of the cache below them.
        let store = configuration.credentialStore
        links.append(Link(interceptor: AuthenticationInterceptor(store: store), isForHooksAlone: store == nil))
        if let logger = configuration.logger {
            links.append(Link(interceptor: LogInterceptor(logger: logger, redaction: configuration.redaction)))
        }
        return links
    }
}
