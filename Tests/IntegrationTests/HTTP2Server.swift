import FoundationEssentials
import Linnet
import Testing

extension Server {
    static let http2 = Server(variable: "LINNET_TEST_NGINX_H2")
    static let http2TLS12 = Server(variable: "LINNET_TEST_NGINX_H2TLS12")
    static let http2Plain = Server(variable: "LINNET_TEST_NGINX_H2C")
    static let http2KeepAlive = Server(variable: "LINNET_TEST_NGINX_H2KEEPALIVE")
    static let http2Few = Server(variable: "LINNET_TEST_NGINX_H2FEW")
    static let http2One = Server(variable: "LINNET_TEST_NGINX_H2ONE")
    static let nghttpd = Server(variable: "LINNET_TEST_NGHTTPD_TLS")
    static let nghttpdPlain = Server(variable: "LINNET_TEST_NGHTTPD_PLAIN")

    /// All servers with HTTP/2, over TLS and plain.
    static let allHTTP2 = [http2, http2TLS12, http2Plain, nghttpd, nghttpdPlain]
    /// The servers with the content of `locations.conf`.
    static let nginxHTTP2 = [http2, http2TLS12, http2Plain]

    /// The setting that selects HTTP/2: over TLS the default.
    var httpVersions: HTTPVersions {
        self == .http2Plain || self == .nghttpdPlain ? .http2 : .automatic
    }

    /// Calls a function with a session that uses HTTP/2 with this server.
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
