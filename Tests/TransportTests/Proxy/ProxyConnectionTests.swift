import FoundationEssentials
import HTTPTypes
import LinnetMessages
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization
import Testing

/// Requests through proxies, over loopback.
@Suite("Requests through proxies", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ProxyConnectionTests {
    private static let authorization = HTTPField.Name.proxyAuthorization
    private let pki: TestPKI

    init() throws {
        pki = try TestPKI()
    }

    func identity(_ name: String = "service.test") throws -> TestPKI.Identity {
        try pki.identity { ($0.hosts, $0.addresses) = ([name], []) }
    }

    func policy() throws -> SecurityPolicy { .systemTrust(anchors: try .certificates([pki.root])) }

    /// An origin with a name that only the proxy knows.
    func withOrigin(
        tls identity: TestPKI.Identity? = nil, _ configure: (inout MockServer.Configuration) -> Void = { _ in },
        handler: @escaping MockServer.Handler = { .text($0.path) }, perform: (MockServer) async throws -> Void
    ) async throws {
        let configuration = MockServer.Configuration {
            $0.hostName = "service.test"
            configure(&$0)
        }
        try await withMockServer(tls: identity, configuration: configuration, handler: handler, perform: perform)
    }

    func proxy(_ kind: Proxy.Kind, _ server: MockServer, _ login: TestProxy.Login? = nil) throws -> Proxy {
        try Proxy(
            kind, host: server.host, port: server.port, username: login?.username,
            password: kind == .socks4a ? nil : login?.password, securityPolicy: policy())
    }

    func failure(_ transport: HTTPTransport, _ request: TransportRequest) async -> TransportError? {
        await TransportTests.failure { () async throws(TransportError) in try await transport.send(request) }
    }

    // MARK: Bytes after the answer

    /// The server's SETTINGS frame comes with the proxy's answer: 80 connections are opened at once, each to another
    /// origin.
    @Test(arguments: [Proxy.Kind.http, .socks5h, .socks4a])
    func bytesThatComeWithTheAnswerAreTheOrigins(kind: Proxy.Kind) async throws {
        let server = try await MockServer.startRaw { connection in
            let answer: Data
            switch kind {
            case .http:
                try await connection.read(through: "\r\n\r\n")
                answer = Data("HTTP/1.1 200 Open\r\n\r\n".utf8)
            case .socks4a:
                try await connection.read(through: "test\0")
                answer = Data([0, 90, 0, 0, 0, 0, 0, 0])
            default:
                try await connection.read(through: "\u{5}\u{1}\0")
                try await connection.write(Data([5, 0]))
                try await connection.read(through: ".test\0\u{50}")
                answer = Data([5, 0, 0, 1, 127, 0, 0, 1, 0, 80])
            }
            let settings = Data([0, 0, 0, 4, 0, 0, 0, 0, 0])
            try await connection.write(answer + settings)
            // The client's preface, its SETTINGS, and its answer to the server's.
            try await connection.read(through: String(decoding: [0, 0, 0, 4, 1, 0, 0, 0, 0] as [UInt8], as: UTF8.self))
            // A response with 204 to stream 1 (RFC 7541, appendix A).
            try await connection.write(Data([0, 0, 1, 1, 5, 0, 0, 0, 1, 0x89]))
            while try await connection.read() != nil {}
        }
        let proxy = try Proxy(kind, host: server.host, port: server.port)
        try await withTransport({
            $0.proxies = .fixed(proxy)
            $0.httpVersions = .http2
            $0.timeouts.request = .seconds(20)
        }) { transport in
            let statuses = await withTaskGroup(of: Int?.self) { group in
                for number in 0..<80 {
                    group.addTask {
                        let head = HTTPRequest(
                            method: .get, scheme: "http", authority: "service\(number).test", path: "/")
                        return try? await transport.send(TransportRequest(head: head)).head.status.code
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 204 } == 80)
        }
        await server.shutdown()
    }

    // MARK: Absolute form (RFC 9112, 3.2.2)

    @Test func requestsToHTTPOriginsHaveAnAbsoluteTarget() async throws {
        let test = TestProxy()
        try await withOrigin { origin in
            try await test.run { server in
                let proxy = try proxy(.http, server)
                try await withTransport({ $0.proxies = .fixed(proxy) }) { transport in
                    for path in ["/a?b=c", "/d"] {
                        let response = try await transport.send(origin.request(.get, path))
                        #expect(response.text == String(path.prefix(2)))
                        #expect(response.metrics.proxy == proxy.description)
                        #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
                        #expect(response.metrics.isReusedConnection == (path == "/d"))
                    }
                }
            }
            let base = "http://service.test:\(origin.port)"
            #expect(test.lines == ["GET \(base)/a?b=c HTTP/1.1", "GET \(base)/d HTTP/1.1"])
            #expect(origin.recordedRequests.map(\.target) == ["/a?b=c", "/d"])
            #expect(origin.recordedRequests.allSatisfy { $0.headerFields[Self.authorization] == nil })
        }
    }

    @Test(arguments: [true, false])
    func aChallengeIsAnsweredOnceAndRemembered(closes: Bool) async throws {
        let login = TestProxy.Login(closes: closes)
        let test = TestProxy(login)
        try await withOrigin { origin in
            try await test.run { server in
                let proxy = try proxy(.http, server, login)
                try await withTransport({ $0.proxies = .fixed(proxy) }) { transport in
                    let first = try await transport.send(origin.request(.post, "/a", body: .text("body")))
                    #expect(first.attempts.dropLast().map(\.failure) == [.notProcessed])
                    let second = try await transport.send(origin.request(.get, "/b"))
                    #expect(second.attempts.dropLast().isEmpty)
                }
            }
            #expect(test.log.map(\.authorization) == [nil, login.basic, login.basic])
            #expect(origin.recordedRequests.map(\.path) == ["/a", "/b"])
            #expect(origin.recordedRequests.allSatisfy { $0.headerFields[Self.authorization] == nil })
        }
    }

    /// The body waits for `100 Continue`, since the proxy may refuse the request.
    @Test func aBodyThatCanBeReadOnceIsNotLostToAChallenge() async throws {
        let login = TestProxy.Login()
        let test = TestProxy(login)
        try await withOrigin(handler: { .text($0.bodyText) }) { origin in
            try await test.run { server in
                let proxy = try proxy(.http, server, login)
                try await withTransport({
                    $0.proxies = .fixed(proxy)
                    $0.continueTimeout = .seconds(60)
                }) { transport in
                    let body = TransportRequestBody.pieces(["one", "two"], length: 6, isReplayable: false)
                    try await expectText("onetwo", transport, origin.request(.post, "/", body: body))
                }
            }
        }
    }

    @Test(arguments: [Proxy.Kind.http, .socks5h, .socks5])
    func aWrongPasswordIsAnErrorWithoutIt(kind: Proxy.Kind) async throws {
        let test = TestProxy(TestProxy.Login())
        try await withOrigin { origin in
            try await test.run { server in
                for wrong in [TestProxy.Login(password: "secret"), nil] {
                    let proxy = try proxy(kind, server, wrong)
                    try await withTransport({
                        $0.proxies = .fixed(proxy)
                        $0.resolution.hostOverrides = ["service.test": ["127.0.0.1"]]
                    }) { transport in
                        let error = await failure(transport, origin.request())
                        #expect(error?.code == .proxyAuthenticationRequired)
                        #expect(error?.endpoint == "127.0.0.1:\(server.port)")
                        #expect("\(String(describing: error))".contains("secret") == false)
                    }
                }
            }
            #expect(origin.acceptedConnections == 0)
        }
    }

    // MARK: Tunnels (RFC 9110, 9.3.6)

    @Test(arguments: [Proxy.Kind.http, .https], [HTTPVersions.http1, .http2])
    func httpsPassesThroughATunnel(kind: Proxy.Kind, version: HTTPVersions) async throws {
        let login = TestProxy.Login()
        let test = TestProxy(login)
        let large = String(repeating: "0123456789abcdef", count: 50_000)
        try await withOrigin(
            tls: try identity(), { $0.httpVersions = version == .http2 ? .http2 : .http1 },
            handler: { .text($0.bodyText) }
        ) {
            origin in
            try await test.run(tls: kind == .https ? try pki.identity() : nil) { server in
                let proxy = try proxy(kind, server, login)
                try await withTransport({
                    $0.proxies = .fixed(proxy)
                    $0.securityPolicy = try policy()
                    $0.httpVersions = version
                }) { transport in
                    for body in ["small", large] {
                        let response = try await transport.send(origin.request(.post, "/", body: .text(body)))
                        #expect(response.text == body)
                        #expect(response.metrics.httpVersion == (version == .http2 ? "h2" : "http/1.1"))
                        #expect(response.metrics.proxy == proxy.description)
                    }
                }
            }
            // A proxy over TLS gets the password at once, and another one after its challenge on a separate connection.
            let line = "CONNECT service.test:\(origin.port) HTTP/1.1"
            #expect(test.lines == (kind == .https ? [line] : [line, line]))
            #expect(test.log.map(\.authorization) == (kind == .https ? [login.basic] : [nil, login.basic]))
            #expect(origin.recordedRequests.map(\.serverName) == ["service.test", "service.test"])
            #expect(origin.recordedRequests.allSatisfy { $0.headerFields[Self.authorization] == nil })
        }
    }

    @Test func http2InClearTextHasATunnel() async throws {
        let test = TestProxy()
        try await withOrigin({ $0.httpVersions = .http2 }) { origin in
            try await test.run { server in
                let proxy = try proxy(.http, server)
                try await withTransport({
                    $0.proxies = .fixed(proxy)
                    $0.httpVersions = .http2
                }) { transport in try await expectText("/a", transport, origin.request(.get, "/a")) }
            }
            #expect(test.lines == ["CONNECT service.test:\(origin.port) HTTP/1.1"])
        }
    }

    @Test(arguments: [Proxy.Kind.http, .https, .socks4a, .socks5h])
    func aCertificateForAnotherNameIsRefusedBehindAProxy(kind: Proxy.Kind) async throws {
        let test = TestProxy()
        // Valid for the proxy, but the proxy's policy does not apply here.
        try await withOrigin(tls: try pki.identity()) { origin in
            try await test.run(tls: kind == .https ? try pki.identity() : nil) { server in
                let proxy = try proxy(kind, server)
                try await withTransport({
                    $0.proxies = .fixed(proxy)
                    $0.securityPolicy = try policy()
                }) { transport in
                    let error = await failure(transport, origin.request())
                    #expect(error?.trustRefusal?.reason == .hostnameMismatch)
                    #expect(error?.endpoint == "service.test:\(origin.port)")
                }
            }
            #expect(test.log.count == 1)
            #expect(origin.recordedRequests.isEmpty)
        }
    }

    @Test func pinsHoldThroughAProxy() async throws {
        let (own, other) = (try identity(), try identity())
        for (pinned, isAccepted) in [(own, true), (other, false)] {
            let test = TestProxy()
            try await withOrigin(tls: own) { origin in
                try await test.run { server in
                    let proxy = try proxy(.http, server)
                    try await withTransport({
                        $0.proxies = .fixed(proxy)
                        $0.securityPolicy = try .publicKeyPins([pinned.pin], anchors: .certificates([pki.root]))
                    }) { transport in
                        let error = await failure(transport, origin.request())
                        #expect(error?.trustRefusal?.reason == (isAccepted ? nil : .pinMismatch))
                    }
                }
                #expect(origin.recordedRequests.count == (isAccepted ? 1 : 0))
            }
        }
    }

    @Test func aClientCertificateIsForTheOriginBehindTheProxy() async throws {
        let clients = try TestPKI(named: "Clients")
        let alice = try clients.clientIdentity(named: "alice").clientIdentity()
        let test = TestProxy()
        try await withOrigin(tls: try identity(), { $0.clientCertificates = .required(issuedBy: [clients.root]) }) {
            origin in
            try await test.run(tls: try pki.identity()) { server in
                let proxy = try proxy(.https, server)
                try await withTransport({
                    $0.proxies = .fixed(proxy)
                    $0.securityPolicy = try policy()
                    $0.clientIdentities = .everyHost(alice)
                }) { transport in try await expectText("/", transport, origin.request()) }
            }
            #expect(origin.recordedRequests.first?.clientCertificate != nil)
        }
    }

    @Test func theCertificateOfAProxyIsJudgedByItsOwnPolicy() async throws {
        let test = TestProxy()
        try await withOrigin(tls: try identity()) { origin in
            try await test.run(tls: try pki.identity()) { server in
                let refusing = try Proxy(.https, host: "localhost", port: server.port)
                for (proxies, refusal) in [
                    (refusing, TrustRefusal.Reason.unknownAuthority), (try proxy(.https, server), nil),
                ] {
                    try await withTransport({
                        $0.proxies = .fixed(proxies)
                        $0.securityPolicy = try policy()
                    }) { transport in
                        let error = await failure(transport, origin.request())
                        #expect(error?.trustRefusal?.reason == refusal)
                        #expect(error?.endpoint == (refusal == nil ? nil : "localhost:\(server.port)"))
                    }
                }
            }
            #expect(origin.recordedRequests.count == 1)
        }
    }

    // MARK: SOCKS

    @Test(arguments: [Proxy.Kind.socks4a, .socks5, .socks5h], [true, false])
    func socksCarriesBothSchemes(kind: Proxy.Kind, isSecure: Bool) async throws {
        let login = kind == .socks4a ? nil : TestProxy.Login()
        let test = TestProxy(login)
        try await withOrigin(tls: isSecure ? try identity() : nil) { origin in
            try await test.run { server in
                let proxy = try proxy(kind, server, login)
                let anchors = try TrustAnchors.certificates([pki.root])
                try await withTransport({
                    $0.proxies = .fixed(proxy)
                    $0.securityPolicy = .everyHost(.systemTrust(anchors: anchors).insecureAllowingCleartext())
                    // Used for names that are resolved here only.
                    $0.resolution.hostOverrides = ["service.test": ["127.0.0.1"]]
                }) { transport in
                    try await expectText("/a", transport, origin.request(.get, "/a"))
                    let again = try await transport.send(origin.request(.get, "/b"))
                    #expect(again.metrics.isReusedConnection)
                }
            }
            let host = kind == .socks5 ? "127.0.0.1" : "service.test"
            #expect(
                test.lines == [
                    "\(kind == .socks4a ? "socks4" : "socks5") \(host):\(origin.port)\(kind == .socks4a ? " " : "")"
                ])
        }
    }

    @Test func aNameThatIsUnknownHereFailsOnlyIfItIsResolvedHere() async throws {
        let test = TestProxy()
        try await withOrigin { origin in
            try await test.run { server in
                let proxy = try proxy(.socks5, server)
                try await withTransport({ $0.proxies = .fixed(proxy) }) { transport in
                    #expect(await failure(transport, origin.request())?.code == .nameResolutionFailed)
                }
            }
            #expect(test.log.isEmpty)
        }
    }

    /// The origin could otherwise link connections that reach it from different addresses (RFC 8446, C.4).
    @Test func aTLSSessionIsResumedThroughTheSameProxyOnly() async throws {
        let (first, second) = (TestProxy(), TestProxy())
        let chosen = Mutex<Proxy?>(nil)
        try await withOrigin(
            tls: try identity(),
            {
                $0.maximumRequestsPerConnection = 1
                $0.issuesSessionTickets = true
            }
        ) { origin in
            try await first.run { one in
                try await second.run { two in
                    let proxies = try [proxy(.http, one), proxy(.http, two), nil]
                    try await withTransport({
                        $0.proxies = .choosing { _ in chosen.withLock { $0 } }
                        $0.securityPolicy = try policy()
                        $0.resolution.hostOverrides = ["service.test": ["127.0.0.1"]]
                    }) { transport in
                        for round in 0..<2 {
                            for proxy in proxies {
                                chosen.withLock { $0 = proxy }
                                let response = try await transport.send(origin.request())
                                #expect(!response.metrics.isReusedConnection)
                                #expect(response.metrics.isResumedTLSSession == (round == 1))
                            }
                        }
                    }
                }
            }
        }
    }
}
