import FoundationEssentials
import Linnet
import LinnetTesting

/// The HTTPS server in the example's process, with a certificate that is created for each run.
struct EmbeddedServer {
    private let server: MockServer
    private let root: X509Certificate
    /// The pin of the server's key.
    let pin: PublicKeyPin

    /// The root URL.
    var url: URL { server.url }

    static func start() async throws -> EmbeddedServer {
        let authority = try TestPKI(named: "Linnet Example")
        let identity = try authority.identity()
        let page = try SamplePosts.posts.map { try JSONEncoder().encode($0) }
        let routes = MockServer.Routes {
            $0.on(.get, "/" + TimelineClient.path) { request in .json(timeline(page.prefix(count(in: request.query)))) }
        }
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        let server = try await MockServer.start(tls: identity, configuration: configuration, routes: routes)
        return EmbeddedServer(server: server, root: authority.root, pin: identity.pin)
    }

    /// The security policy: the server's root is the only anchor, and its key is pinned unless the plan has other pins.
    func policy(for plan: TimelinePlan) throws -> SecurityPolicy {
        try plan.policy(anchors: .certificates([root]), otherwise: [pin])
    }

    func shutdown() async {
        await server.shutdown()
    }

    /// The number of posts that the query requests, such as `count=20`; all posts without it.
    private static func count(in query: String?) -> Int {
        let items = query?.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) } ?? []
        let asked = items.last { $0.first == "count" }?.last.flatMap { Int($0) }
        return max(0, asked ?? .max)
    }

    private static func timeline(_ posts: ArraySlice<Data>) -> String {
        "{\"data\":[" + posts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",") + "]}"
    }
}
