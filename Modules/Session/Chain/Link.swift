/// A place in the chain that requests go down and responses come up.
struct Link: Sendable {
    let interceptor: any Interceptor
    /// The requests that need the link; the others skip it.
    var need = Need.always

    enum Need {
        case always
        /// Requests with hooks.
        case hooks
        /// Requests with hooks, or with a retrier or a retry policy of the call.
        case retries
        /// Requests with an adapter of the call.
        case adapters
    }

    func isSkipped(by exchange: Exchange) -> Bool {
        switch need {
        case .always: false
        case .hooks: exchange.hooks == nil
        case .retries:
            exchange.hooks == nil && (exchange.own.map { $0.retriers.isEmpty && $0.retryPolicy == nil } ?? true)
        case .adapters: exchange.own?.adapters.isEmpty ?? true
        }
    }

    /// All links above the transport's, from top to bottom.
    static func chain(_ configuration: HTTPSession.Configuration) -> [Link] {
        var links = configuration.interceptors.map { Link(interceptor: $0) }
        let retry = RetryInterceptor(
            policy: configuration.retryPolicy, retriers: configuration.retriers, clock: configuration.clock)
        links.append(
            Link(interceptor: retry, need: retry.policy.limit <= 0 && retry.retriers.isEmpty ? .retries : .always))
        let adapters = AdapterInterceptor(adapters: configuration.requestAdapters)
        links.append(Link(interceptor: adapters, need: adapters.adapters.isEmpty ? .adapters : .always))
        let redirects = RedirectInterceptor(policy: configuration.redirectPolicy)
        links.append(Link(interceptor: redirects, need: redirects.policy.limit <= 0 ? .hooks : .always))
        // Here is the place of cookies, and of the cache below them.
        let store = configuration.credentialStore
        links.append(Link(interceptor: AuthenticationInterceptor(store: store), need: store == nil ? .hooks : .always))
        if let logger = configuration.logger {
            links.append(Link(interceptor: LogInterceptor(logger: logger, redaction: configuration.redaction)))
        }
        return links
    }
}
