/// A place in the chain that requests go down and responses come up.
struct Link: Sendable {
    let interceptor: any Interceptor
    /// Whether only requests that have hooks need it; the others pass it by.
    var isForHooksAlone = false

    /// All links above the transport's, from top to bottom.
    static func chain(_ configuration: Session.Configuration) -> [Link] {
        var links = configuration.interceptors.map { Link(interceptor: $0) }
        if configuration.redirectPolicy.limit > 0 {
            links.append(Link(interceptor: RedirectInterceptor(policy: configuration.redirectPolicy)))
        }
        return links
    }
}
