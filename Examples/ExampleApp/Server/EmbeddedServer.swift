import FoundationEssentials
import Linnet
import LinnetTesting

/// The HTTPS server in the example's process, with a certificate that is created for each run.
struct EmbeddedServer {
    private let server: MockServer
    /// The authority of its certificate.
    let root: X509Certificate
    /// The pin that the app expects.
    let pin: PublicKeyPin

    /// The root URL.
    var url: URL { server.url }

    static func start(_ misbehavior: [Misbehavior] = []) async throws -> EmbeddedServer {
        let authority = try TestPKI(named: "Linnet Example")
        let identity = try authority.identity()
        let shown = misbehavior.contains(.badPin) ? try authority.identity() : identity
        let configuration = MockServer.Configuration {
            $0.hostName = "localhost"
            $0.faults = Misbehavior.faults(of: misbehavior)
        }
        let routes = EmbeddedRoutes(isSlow: misbehavior.contains(.slow), start: Date()).routes
        let server = try await MockServer.start(tls: shown, configuration: configuration, routes: routes)
        return EmbeddedServer(server: server, root: authority.root, pin: identity.pin)
    }

    /// The security policy: the server's root is the only anchor, and its key is pinned unless the options have pins.
    func policy(for options: TimelineOptions) throws -> SecurityPolicy {
        try options.policy(anchors: .certificates([root]), otherwise: [pin])
    }

    func shutdown() async { await server.shutdown() }
}
