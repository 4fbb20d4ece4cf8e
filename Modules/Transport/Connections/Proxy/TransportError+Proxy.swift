internal import LinnetMessages

extension TransportError {
    /// The error for a proxy that did not open a connection. It has the proxy's endpoint.
    init(_ failure: ProxyFailure, of proxy: Proxy) {
        switch failure {
        case .closed:
            self.init(.proxyConnectionFailed, "The proxy \(proxy) closed the connection before it had answered.")
        case .invalid(let problem):
            self.init(.proxyConnectionFailed, "The proxy \(proxy) gave an invalid answer: \(problem).")
        case .refused(let refusal):
            let page = refusal.page.isEmpty ? "" : " \"\(refusal.page.oneLine)\""
            self.init(
                .proxyRefused, "The proxy \(proxy) refused the connection: \(refusal.description.oneLine).\(page)",
                underlying: refusal)
        case .authentication:
            self = .proxyAuthenticationRequired(proxy)
        }
        endpoint = proxy.server.endpoint
    }

    static func proxyAuthenticationRequired(_ proxy: Proxy) -> TransportError {
        TransportError(
            .proxyAuthenticationRequired,
            proxy.hasCredentials
                ? "The proxy \(proxy) does not accept the user name and the password."
                : "The proxy \(proxy) requires a user name and a password; set them in its Proxy.",
            endpoint: proxy.server.endpoint)
    }

    /// The error of a response that came through a proxy, which then proved not to know the password.
    static func wrongProof(of proxy: Proxy) -> TransportError {
        TransportError(
            .invalidResponse,
            "The proof of the proxy \(proxy) that it knows the password (rspauth) is wrong, so its response is not used.",
            endpoint: proxy.server.endpoint)
    }

    static func proxyAuthenticationTooLate(_ proxy: Proxy) -> TransportError {
        TransportError(
            .proxyAuthenticationRequired,
            "The proxy \(proxy) asked for the user name and the password after the request's body had been sent, which "
                + "can be read only once.",
            endpoint: proxy.server.endpoint)
    }

    static func proxyTimeout(_ proxy: Proxy) -> TransportError {
        TransportError(
            .connectTimeout, "The proxy \(proxy) did not answer in time.", endpoint: proxy.server.endpoint)
    }

    /// The error of the connection to a proxy itself.
    init(_ error: TransportError, reaching proxy: Proxy) {
        guard error.code != .connectTimeout else {
            self = .proxyTimeout(proxy)
            return
        }
        self = error
        if [.connectionFailed, .nameResolutionFailed, .connectionClosed].contains(error.code) {
            code = .proxyConnectionFailed
            underlying = error
        }
        message = "The proxy \(proxy) cannot be used: \(error.message)"
        endpoint = proxy.server.endpoint
    }
}
