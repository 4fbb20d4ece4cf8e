import FoundationEssentials
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// A host without permission for clear text receives none, whatever the way to it.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct CleartextTests {
    /// Ways to a URL.
    enum Way: CaseIterable {
        case data, download, bytes, handle, redirect, prewarm

        func go(to url: URL, from other: MockServer, _ session: HTTPSession) async throws(SessionError) {
            switch self {
            case .data: _ = try await session.call(SessionRequest(url: url)).response()
            case .download:
                let file = FileManager.default.temporaryDirectory.appending(path: "linnet-cleartext")
                _ = try await session.call(SessionRequest(url: url)).download(to: file)
            case .bytes: _ = try await session.call(SessionRequest(url: url)).bytes()
            case .handle:
                let task = session.call(SessionRequest(url: url)).task(DataResponseSerializer())
                task.resume()
                _ = try await task.value
            case .redirect: _ = try await session.call(SessionRequest(url: other.url)).response()
            case .prewarm: try session.prewarm(url)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func noRequestReachesARefusedHost(way: Way) async throws {
        let elsewhere = MockServer.Configuration { $0.hostName = "localhost" }
        try await withMockServer(.text("secret")) { server in
            try await withMockServer(.redirect(to: server.url.absoluteString), configuration: elsewhere) { other in
                let session = try HTTPSession {
                    $0.securityPolicy = try SecurityPolicy(rules: [HostRule("127.0.0.0/8", .refuse)])
                }
                for host in ["127.0.0.1", "[::ffff:127.0.0.1]"] {
                    let url = try #require(URL(string: "http://\(host):\(server.port)/"))
                    let error = await #expect(throws: SessionError.self) {
                        try await way.go(to: url, from: other, session)
                    }
                    #expect(error?.code == .trustRefused)
                    #expect((error?.underlying as? TransportError)?.code == .cleartextRefused)
                }
                #expect(server.acceptedConnections == 0)
                await session.shutdown()
            }
        }
    }

    @Test func aRedirectFromHTTPSToHTTPStaysRefused() async throws {
        let identity = try TestPKI.selfSigned { $0.addresses = ["127.0.0.1"] }
        try await withMockServer(.text("secret")) { server in
            try await withMockServer(.redirect(to: server.url.absoluteString), tls: identity) { other in
                let session = try HTTPSession {
                    $0.securityPolicy = .everyHost(try .certificatePins([identity.certificate]))
                }
                let error = await #expect(throws: SessionError.self) {
                    try await session.call(SessionRequest(url: other.url)).response()
                }
                #expect(error?.code == .redirectRefused)
                #expect(server.acceptedConnections == 0)
                await session.shutdown()
            }
        }
    }

    @Test(arguments: ["http://127.0.0.1/", "http://[::1]:8080/v1", "http://[::ffff:127.0.0.1]/", "http://nas.local/"])
    func aBaseURLMustBeAllowedByThePolicy(base: String) async throws {
        let url = try #require(URL(string: base))
        for policy in [
            try SecurityPolicy(rules: [HostRule("@private", .refuse)]), .everyHost(.refuse),
            try SecurityPolicy(rules: [HostRule("example.com", .systemTrust)], otherHosts: .refuse),
        ] {
            let error = #expect(throws: SessionError.self) {
                try HTTPSession(baseURL: url) { $0.securityPolicy = policy }
            }
            #expect(error?.code == .invalidConfiguration)
            #expect((error?.underlying as? TransportError)?.code == .cleartextRefused)
        }
        let policy = try SecurityPolicy(rules: [HostRule("@private", .systemTrust)], otherHosts: .refuse)
        let client = try HTTPSession(baseURL: url) { $0.securityPolicy = policy }
        let error = #expect(throws: SessionError.self) { try client.replaceSecurityPolicy(.everyHost(.refuse)) }
        #expect(error?.code == .invalidConfiguration)
        await client.shutdown()
    }

    @Test(arguments: [
        "https://[name]/", "http://127.1/", "http://0x7f000001/", "http://2130706433/", "http://0177.0.0.1/",
    ])
    func aHostThatIsNoneIsNoURL(text: String) async throws {
        // Some are no URL to Foundation, which is as good.
        guard let url = URL(string: text) else { return }
        let base = #expect(throws: SessionError.self) { try HTTPSession(baseURL: url) }
        #expect(base?.code == .invalidURL)
        let session = try HTTPSession()
        let error = await #expect(throws: SessionError.self) {
            try await session.call(SessionRequest(url: url)).response()
        }
        #expect(error?.code == .invalidURL)
        await session.shutdown()
    }
}
