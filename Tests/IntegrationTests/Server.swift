import FoundationEssentials
import Linnet
import Testing

/// A server that `Servers/with` starts, by the environment variable with its address.
struct Server: Sendable, Hashable, CustomTestStringConvertible {
    let variable: String

    static let plain = Server(variable: "LINNET_TEST_NGINX_HTTP")
    static let tls = Server(variable: "LINNET_TEST_NGINX_TLS")
    static let tls12 = Server(variable: "LINNET_TEST_NGINX_TLS12")
    static let wrongHost = Server(variable: "LINNET_TEST_NGINX_WRONGHOST")
    static let expired = Server(variable: "LINNET_TEST_NGINX_EXPIRED")
    static let selfSigned = Server(variable: "LINNET_TEST_NGINX_SELFSIGNED")
    static let keepAlive = Server(variable: "LINNET_TEST_NGINX_KEEPALIVE")
    static let slow = Server(variable: "LINNET_TEST_NGINX_SLOW")
    static let webSockets = Server(variable: "LINNET_TEST_WEBSOCKETS")
    static let authlib = Server(variable: "LINNET_TEST_AUTHLIB")
    static let httpbin = Server(variable: "LINNET_TEST_HTTPBIN")

    var testDescription: String { variable }

    var url: URL {
        get throws { try #require(URL(string: Environment.value(of: variable))) }
    }

    /// The address of the server, with a different scheme, host or user information if given.
    func url(scheme: String? = nil, host: String? = nil, user: String? = nil, password: String? = nil) throws -> URL {
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: true))
        parts.scheme = scheme ?? parts.scheme
        parts.host = host ?? parts.host
        parts.user = user
        parts.password = password
        return try #require(parts.url)
    }

    /// Calls a function with a session whose base URL is this server, and always shuts the session down.
    ///
    /// By default the servers' root certificate is the only anchor, and clear text is allowed.
    func withSession<R>(
        baseURL: URL? = nil, policy: SecurityPolicy? = nil,
        _ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in },
        run: (HTTPSession) async throws -> R
    ) async throws -> R {
        let session = try HTTPSession(baseURL: baseURL ?? url) { configuration in
            let own = StandardTrustEvaluator.systemTrust(anchors: try Environment.anchors)
            configuration.securityPolicy = policy ?? .everyHost(own.insecureAllowingCleartext())
            try configure(&configuration)
        }
        do {
            let result = try await run(session)
            await session.shutdown()
            return result
        } catch {
            await session.shutdown(.immediate)
            throw error
        }
    }
}

/// The environment variables of `Servers/with`.
enum Environment {
    private static let variables = ProcessInfo.processInfo.environment

    static let hasServers = variables["LINNET_TEST_SERVERS"] != nil

    static func value(of variable: String) throws -> String {
        try #require(variables[variable], "\(variable) is not set")
    }

    static var anchors: TrustAnchors {
        get throws { try .file(value(of: "LINNET_TEST_CA")) }
    }

    /// The pin of the good certificate's key.
    static var pin: PublicKeyPin {
        get throws { try PublicKeyPin(value(of: "LINNET_TEST_PIN")) }
    }

    /// A certificate of the servers, without its chain.
    static func certificate(_ name: String) throws -> X509Certificate {
        let path = try value(of: "LINNET_TEST_SERVERS") + "/pki/\(name).pem"
        return try #require(try X509Certificate.all(contentsOfFile: path).first)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips tests that need the servers when these are not running.
    static var needsServers: Self {
        .enabled(
            if: Environment.hasServers,
            "nginx, nghttpd and httpbin are not running: use `make test`, or Tests/IntegrationTests/Servers/with swift test"
        )
    }
}
