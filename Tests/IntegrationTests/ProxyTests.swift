import FoundationEssentials
import HTTPTypes
import Linnet
import LinnetTransport
import Testing

/// tinyproxy, squid and microsocks, each with a user name and a password, in front of nginx and httpbin.
@Suite(
    .leavesNothingAlive, .needsServers, .timeLimit(.minutes(3)),
    .enabled(if: Environment.hasProxies, "tinyproxy, squid or microsocks is not installed: `make setup` installs them"))
struct ProxyTests {
    /// A proxy that `Servers/with` starts.
    enum TestedProxy: String, CaseIterable, Sendable {
        case tinyproxy = "LINNET_TEST_TINYPROXY"
        case squidBasic = "LINNET_TEST_SQUID_BASIC"
        case squidDigest = "LINNET_TEST_SQUID_DIGEST"
        case microsocks = "LINNET_TEST_MICROSOCKS"

        /// The proxy, with the right password or another one.
        func proxy(password: String? = nil) throws -> Proxy {
            let proxy = try Proxy(Environment.value(of: rawValue))
            return try Proxy(
                proxy.kind, host: proxy.host, port: proxy.port, username: proxy.username,
                password: password ?? proxy.password)
        }
    }

    @Test(arguments: TestedProxy.allCases)
    func anHTTPOriginIsReached(tested: TestedProxy) async throws {
        let proxy = try tested.proxy()
        try await Server.plain.withSession {
            $0.proxies = .fixed(proxy)
        } run: { session in
            for _ in 0..<2 {
                let response = try await session.get("1k").response()
                #expect(response.value == ServedFile.small.bytes)
                #expect(response.metrics.last?.proxy == proxy.description)
            }
        }
    }

    @Test(arguments: TestedProxy.allCases, ["LINNET_TEST_NGINX_TLS", "LINNET_TEST_NGINX_H2"])
    func anHTTPSOriginIsReached(tested: TestedProxy, variable: String) async throws {
        let proxy = try tested.proxy()
        let pinned = try SecurityPolicy.publicKeyPins([Environment.pin], anchors: Environment.anchors)
        try await Server(variable: variable).withSession(policy: pinned) {
            $0.proxies = .fixed(proxy)
        } run: { session in
            let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<8 { group.addTask { try await session.get("bytes-64k").response().value } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(bodies.count == 8 && bodies.allSatisfy { $0.count == 65_536 })
            let response = try await session.get("1k").response()
            #expect(response.metrics.last?.isPinned == true)
            #expect(response.metrics.last?.httpVersion == (variable.hasSuffix("H2") ? "h2" : "http/1.1"))
        }
    }

    /// 1,200 requests on at most eight connections: squid counts the answers of a nonce, which may be fifty, in their
    /// order.
    @Test(arguments: ["LINNET_TEST_NGINX_HTTP", "LINNET_TEST_NGINX_TLS"])
    func digestAtSquidSucceedsForConcurrentRequests(variable: String) async throws {
        let proxy = try TestedProxy.squidDigest.proxy()
        try await Server(variable: variable).withSession {
            $0.proxies = .fixed(proxy)
            $0.pool.connectionsPerOrigin = 8
        } run: { session in
            let results = await withTaskGroup(of: (failures: [String], attempts: Int).self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var (failures, attempts) = ([String](), 0)
                        for _ in 0..<150 {
                            do throws(SessionError) {
                                let response = try await session.get("1k").response()
                                attempts += response.metrics.count
                            } catch {
                                failures.append(error.message)
                            }
                        }
                        return (failures, attempts)
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.flatMap(\.failures).isEmpty)
            // Each nonce serves fifty requests.
            #expect(results.map(\.attempts).reduce(0, +) < 1_200 + 120)
        }
    }

    @Test(arguments: TestedProxy.allCases)
    func anUploadPassesThrough(tested: TestedProxy) async throws {
        let proxy = try tested.proxy()
        try await Server.httpbin.withSession {
            $0.proxies = .fixed(proxy)
        } run: { session in
            let body = Data((0..<300_000).map { UInt8(65 + $0 % 26) })
            let reply = try await session.post("post").body(.data(body)).json()
            #expect(reply?["data"]?.string?.utf8.count == body.count)
        }
    }

    @Test(arguments: TestedProxy.allCases)
    func theOriginSeesNoCredentials(tested: TestedProxy) async throws {
        let proxy = try tested.proxy()
        try await Server.httpbin.withSession {
            $0.proxies = .fixed(proxy)
        } run: { session in
            let text = try await session.get("headers").text()
            #expect(text.contains("Host"))
            #expect(!text.lowercased().contains("proxy-auth"))
        }
    }

    @Test(arguments: TestedProxy.allCases)
    func aWrongPasswordIsRefused(tested: TestedProxy) async throws {
        let proxy = try tested.proxy(password: "wrong-secret")
        try await Server.tls.withSession {
            $0.proxies = .fixed(proxy)
        } run: { session in
            let error = await #expect(throws: SessionError.self) { try await session.get("1k").response() }
            // tinyproxy answers a wrong password with 401, which is no challenge of a proxy.
            if tested == .tinyproxy {
                let refusal = (error?.underlying as? TransportError)?.underlying as? Proxy.Refusal
                #expect(refusal?.status?.code == 401)
            } else {
                #expect(error?.code == .proxyAuthenticationRequired)
            }
            #expect(error.map { "\($0)\($0.message)".contains("wrong-secret") } == false)
        }
    }

    @Test(arguments: TestedProxy.allCases)
    func theOriginsCertificateIsJudgedBehindAProxy(tested: TestedProxy) async throws {
        let proxy = try tested.proxy()
        for server in [Server.wrongHost, .expired, .selfSigned] {
            try await server.withSession {
                $0.proxies = .fixed(proxy)
            } run: { session in
                let error = await #expect(throws: SessionError.self) { try await session.get("1k").response() }
                #expect(error?.code == .trustRefused)
            }
        }
    }

    @Test(arguments: TestedProxy.allCases)
    func aClientCertificateIsPresentedToTheOrigin(tested: TestedProxy) async throws {
        let proxy = try tested.proxy()
        let folder = try Environment.value(of: "LINNET_TEST_SERVERS") + "/pki/"
        let alice = try ClientIdentity.files(certificates: folder + "alice.pem", privateKey: folder + "alice.key")
        try await Server(variable: "LINNET_TEST_NGINX_CLIENT").withSession {
            $0.proxies = .fixed(proxy)
            $0.clientIdentities = .everyHost(alice)
        } run: { session in
            let response = try await session.get("1k").response()
            #expect(response.value == ServedFile.small.bytes)
        }
    }

    @Test(arguments: TestedProxy.allCases)
    func aPortWithoutAServerIsAnErrorOfTheProxy(tested: TestedProxy) async throws {
        let proxy = try tested.proxy()
        // Port 1 needs privileges that no test server has.
        let url = try #require(URL(string: "https://127.0.0.1:1"))
        try await Server.tls.withSession(baseURL: url) {
            $0.proxies = .fixed(proxy)
        } run: { session in
            let error = await #expect(throws: SessionError.self) { try await session.get("1k").response() }
            #expect(error?.code == .connectionFailed)
            let code = (error?.underlying as? TransportError)?.code
            // microsocks closes the connection, and squid answers with a page.
            #expect(code == .proxyRefused || code == .proxyConnectionFailed)
        }
    }
}

extension Environment {
    static let hasProxies = ProcessInfo.processInfo.environment["LINNET_TEST_TINYPROXY"] != nil
}
