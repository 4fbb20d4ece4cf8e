import FoundationEssentials
import Linnet
import Testing

extension Server {
    static let http2 = Server(variable: "LINNET_TEST_NGINX_H2")
    static let http2TLS12 = Server(variable: "LINNET_TEST_NGINX_H2TLS12")
    static let http2Plain = Server(variable: "LINNET_TEST_NGINX_H2C")
    static let http2KeepAlive = Server(variable: "LINNET_TEST_NGINX_H2KEEPALIVE")
    static let nghttpd = Server(variable: "LINNET_TEST_NGHTTPD_TLS")
    static let nghttpdPlain = Server(variable: "LINNET_TEST_NGHTTPD_PLAIN")

    /// All that speak HTTP/2, over TLS and not.
    static let allHTTP2 = [http2, http2TLS12, http2Plain, nghttpd, nghttpdPlain]
    /// Those with what `locations.conf` serves.
    static let nginxHTTP2 = [http2, http2TLS12, http2Plain]

    /// What a client must be told to come to HTTP/2: over TLS nothing.
    var httpVersions: HTTPVersions {
        self == .http2Plain || self == .nghttpdPlain ? .http2 : .automatic
    }

    /// Runs a function with a session that comes to HTTP/2 on this server.
    func withHTTP2Session<R>(
        _ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
        run: (HTTPSession) async throws -> R
    ) async throws -> R {
        try await withSession { configuration in
            configuration.httpVersions = httpVersions
            try configure(&configuration)
        } run: { session in
            try await run(session)
        }
    }
}
