public import LinnetMessages

/// Decides which requests are sent through a proxy, and which one.
///
/// ```swift
/// $0.proxies = .fixed(try Proxy("http://proxy.example:8080"), except: ["localhost", ".internal", "10.0.0.0/8"])
/// $0.proxies = .environment
/// $0.proxies = .choosing { origin in origin.host.hasSuffix(".onion") ? tor : nil }
/// ```
/// Connections through one proxy never serve requests through another or none. There is no fallback: when a proxy
/// cannot be used, the request fails. Proxy auto-configuration (PAC) is not supported, because it needs a JavaScript
/// interpreter; a closure can call one.
public struct ProxyPolicy: Sendable {
    package enum Form: Sendable {
        case none
        case fixed(ProxyRules)
        case environment
        case chosen(@Sendable (Origin) async throws -> Proxy?)
    }

    package let form: Form

    /// No proxy: all connections are direct, whatever the environment says.
    public static let none = ProxyPolicy(form: .none)

    /// The proxies of the process's environment variables, by the rules of curl, read when the session is created.
    ///
    /// `http` origins use `http_proxy`, in lower case only, and `https` origins `https_proxy` or `HTTPS_PROXY`. Without
    /// it, both use `all_proxy` or `ALL_PROXY`. The origins of `no_proxy` or `NO_PROXY` are connected to directly.
    /// Lower case comes first, and an empty variable counts as missing. An invalid proxy is an error, and not a direct
    /// connection: creating the session fails with `invalidConfiguration`.
    ///
    /// `HTTP_PROXY` in upper case is never read: a web server passes a request's `Proxy` field to a CGI program under
    /// that name, so that any client could choose the program's proxy (CVE-2016-5385, "httpoxy"). It is ignored rather
    /// than refused, also when `REQUEST_METHOD` shows that the process is a CGI program, so that the field cannot stop
    /// the program either.
    public static let environment = ProxyPolicy(form: .environment)

    /// One proxy for all origins.
    ///
    /// - Parameters:
    ///   - proxy: The proxy.
    ///   - exceptions: The origins with direct connections, in the form of curl's `no_proxy`: `*`, `example.com` with
    ///     the names below it, `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`, each also with a port as in
    ///     `example.com:8080`. An entry that can match nothing is ignored. The default is none: `localhost` uses the
    ///     proxy too.
    public static func fixed(_ proxy: Proxy, except exceptions: [String] = []) -> ProxyPolicy {
        fixed(http: proxy, https: proxy, except: exceptions)
    }

    /// One proxy for each scheme; nil for direct connections.
    ///
    /// - Parameters:
    ///   - http: The proxy for `http` origins.
    ///   - https: The proxy for `https` origins.
    ///   - exceptions: The same as for ``fixed(_:except:)``.
    public static func fixed(http: Proxy?, https: Proxy?, except exceptions: [String] = []) -> ProxyPolicy {
        ProxyPolicy(form: .fixed(ProxyRules(http: http, https: https, exceptions: ProxyExceptions(exceptions))))
    }

    /// A function that chooses the proxy for each request; nil for a direct connection.
    ///
    /// It runs in the task of the request, before the search for a connection, and again for each redirect. Its time
    /// counts towards the request's timeout, which cancels its task; the request then fails after its return. Its error
    /// fails the request with `proxyConnectionFailed`, and underlies that error.
    public static func choosing(_ choose: @escaping @Sendable (Origin) async throws -> Proxy?) -> ProxyPolicy {
        ProxyPolicy(form: .chosen(choose))
    }
}

/// The proxies by scheme, and the origins without one.
package struct ProxyRules: Hashable, Sendable {
    package var http: Proxy?
    package var https: Proxy?
    package var exceptions = ProxyExceptions([])

    func proxy(for origin: Origin) -> Proxy? {
        guard let proxy = origin.isSecure ? https : http, !exceptions.contain(origin) else { return nil }
        return proxy
    }
}

extension ProxyPolicy {
    /// The proxy for an origin, where it is known without asking a function; nil also for the environment's.
    package func fixedProxy(for origin: Origin) -> Proxy? {
        if case .fixed(let rules) = form { rules.proxy(for: origin) } else { nil }
    }
}
