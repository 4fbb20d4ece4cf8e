import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import Testing

/// Servers that request a client certificate (RFC 8446, 4.3.2; RFC 5246, 7.4.4).
@Suite("Client identities over TLS", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ClientIdentityTests {
    static let versions = [TransportConfiguration.TLS.Version.tls12, .tls13]

    private let pki: TestPKI
    /// Clients and servers have different authorities.
    private let clients: TestPKI

    init() throws {
        pki = try TestPKI()
        clients = try TestPKI(named: "Clients")
    }

    private func withServer(
        _ certificates: MockServer.Configuration.ClientCertificates? = nil, host: String = "localhost",
        _ configure: (inout MockServer.Configuration) -> Void = { _ in },
        handler: @escaping MockServer.Handler = { _ in .text("ok") },
        perform: (MockServer) async throws -> Void
    ) async throws {
        let configuration = MockServer.Configuration {
            $0.hostName = host
            $0.clientCertificates = certificates ?? .required(issuedBy: [clients.root])
            configure(&$0)
        }
        try await withMockServer(
            tls: try pki.identity(), configuration: configuration, handler: handler, perform: perform)
    }

    private func withClient(
        _ identities: ClientIdentityPolicy, _ configure: (inout TransportConfiguration) -> Void = { _ in },
        perform: (HTTPTransport) async throws -> Void
    ) async throws {
        let anchors = try TrustAnchors.certificates([pki.root])
        try await withTransport(
            {
                $0.securityPolicy = .systemTrust(anchors: anchors)
                $0.clientIdentities = identities
                configure(&$0)
            }, perform: perform)
    }

    private func failure(_ transport: HTTPTransport, _ server: MockServer) async -> TransportError? {
        await TransportTests.failure { () async throws(TransportError) in try await transport.send(server.request()) }
    }

    // MARK: Shown

    @Test(arguments: TestPKI.KeyKind.allCases, versions)
    func aServerReceivesTheClientCertificate(
        key: TestPKI.KeyKind, version: TransportConfiguration.TLS.Version
    ) async throws {
        let minted = try clients.clientIdentity(named: "alice") { $0.key = key }
        try await withServer { server in
            try await withClient(.everyHost(try minted.clientIdentity())) {
                $0.tls.maximumVersion = version
            } perform: { transport in
                let metrics = try await transport.send(server.request()).metrics
                #expect(metrics.tlsVersion == (version == .tls12 ? "TLSv1.2" : "TLSv1.3"))
            }
            #expect(server.recordedRequests.map(\.clientCertificate) == [minted.certificate])
        }
    }

    @Test(arguments: versions)
    func anEvaluatorThatIsNotAskedHasNoInfluence(version: TransportConfiguration.TLS.Version) async throws {
        try await withServer(.ignored) { server in
            try await withClient(.everyHost(try clients.clientIdentity().clientIdentity())) {
                $0.tls.maximumVersion = version
            } perform: {
                try await expectText("ok", $0, server.request())
            }
            #expect(server.recordedRequests.map(\.clientCertificate) == [nil])
        }
    }

    @Test(arguments: versions)
    func anOptionalClientCertificateMayBeMissing(version: TransportConfiguration.TLS.Version) async throws {
        try await withServer(.requested(issuedBy: [clients.root])) { server in
            try await withClient(.none) {
                $0.tls.maximumVersion = version
            } perform: {
                try await expectText("ok", $0, server.request())
            }
            #expect(server.recordedRequests.map(\.clientCertificate) == [nil])
        }
    }

    @Test func eachHostGetsItsOwn() async throws {
        let (alice, bob) = (try clients.clientIdentity(named: "alice"), try clients.clientIdentity(named: "bob"))
        let identities = try ClientIdentityPolicy(
            rules: [.init("localhost", alice.clientIdentity()), .init("127.0.0.0/8", bob.clientIdentity())])
        try await withServer { one in
            try await withServer(host: "127.0.0.1") { two in
                try await withClient(identities) { transport in
                    for server in [one, two, one] { try await expectText("ok", transport, server.request()) }
                }
                #expect(one.recordedRequests.map(\.clientCertificate) == [alice.certificate, alice.certificate])
                #expect(two.recordedRequests.map(\.clientCertificate) == [bob.certificate])
            }
        }
    }

    /// The server is evaluated before the client reveals its identity.
    @Test(arguments: versions)
    func aServerThatIsNotTrustedLearnsNothing(version: TransportConfiguration.TLS.Version) async throws {
        let identity = try clients.clientIdentity().clientIdentity()
        try await withServer { server in
            try await withTransport({
                $0.securityPolicy = .systemTrust
                $0.tls.maximumVersion = version
                $0.clientIdentities = .everyHost(identity)
            }) { transport in
                #expect(await failure(transport, server)?.code == .trustRefused)
            }
            #expect(server.recordedRequests.isEmpty)
        }
    }

    // MARK: Refused

    @Test(arguments: versions)
    func aRequiredClientCertificateThatIsMissingIsReported(version: TransportConfiguration.TLS.Version) async throws {
        try await withServer { server in
            try await withClient(.none) {
                $0.tls.maximumVersion = version
            } perform: { transport in
                // Under TLS 1.3 the alert races with the request.
                for _ in 0..<20 {
                    let error = await failure(transport, server)
                    #expect(error?.code == .clientCertificateRequired, "\(String(describing: error))")
                    #expect(error?.message.contains("client identity") == true)
                    #expect(error?.endpoint?.hasPrefix("localhost:") == true)
                }
                let body = TransportRequestBody.text(String(repeating: "x", count: 1 << 20))
                let error = await TransportTests.failure { () async throws(TransportError) in
                    try await transport.send(server.request(.post, body: body))
                }
                #expect(error?.code == .clientCertificateRequired, "\(String(describing: error))")
            }
            #expect(server.recordedRequests.isEmpty)
        }
    }

    @Test(arguments: versions)
    func aWrongAnswerDiffersFromNone(version: TransportConfiguration.TLS.Version) async throws {
        let expired = try clients.clientIdentity(named: "old") { $0.validity = .expired }
        let strangers = [
            try pki.clientIdentity(named: "stranger").clientIdentity(),
            try expired.clientIdentity(at: Date(timeIntervalSinceNow: -2 * 86_400)),
            try clients.identity().clientIdentity(),
        ]
        for identity in strangers {
            try await withServer { server in
                try await withClient(.everyHost(identity)) {
                    $0.tls.maximumVersion = version
                } perform: { transport in
                    let error = await failure(transport, server)
                    #expect(error?.code == .clientCertificateRefused, "\(String(describing: error))")
                    #expect(error?.message.contains(identity.certificate.subject) == true)
                }
                #expect(server.recordedRequests.isEmpty)
            }
        }
    }

    @Test func anExpiredIdentityIsNamedInTheError() async throws {
        let expired = try clients.clientIdentity { $0.validity = .expired }
        let identity = try expired.clientIdentity(at: Date(timeIntervalSinceNow: -2 * 86_400))
        try await withServer { server in
            try await withClient(.everyHost(identity)) { transport in
                let error = await failure(transport, server)
                #expect(error?.message.contains("expired on") == true)
            }
        }
    }

    @Test func identitiesThatOpenSSLRefusesMakeNoTransport() async throws {
        let weak = try clients.clientIdentity { $0.key = .rsa1024 }.clientIdentity()
        let error = #expect(throws: TransportError.self) {
            var configuration = TransportConfiguration()
            configuration.clientIdentities = try ClientIdentityPolicy(rules: [.init("example.com", weak)])
            _ = try HTTPTransport(configuration)
        }
        #expect(error?.code == .invalidConfiguration)
        let alice = try clients.clientIdentity(named: "alice")
        try await withServer { server in
            try await withClient(.everyHost(try alice.clientIdentity())) { transport in
                let error = #expect(throws: TransportError.self) {
                    try transport.replaceClientIdentities(.everyHost(weak))
                }
                #expect(error?.code == .invalidConfiguration)
                try await expectText("ok", transport, server.request())
            }
            #expect(server.recordedRequests.first?.clientCertificate == alice.certificate)
        }
    }

    // MARK: Replaced

    /// Connections and tickets of one identity serve no other.
    @Test(arguments: versions)
    func aReplacedIdentityLeavesNothingBehind(version: TransportConfiguration.TLS.Version) async throws {
        let (alice, bob) = (try clients.clientIdentity(named: "alice"), try clients.clientIdentity(named: "bob"))
        let certificates = MockServer.Configuration.ClientCertificates.requested(issuedBy: [clients.root])
        let (first, second) = (try alice.clientIdentity(), try bob.clientIdentity())
        for closes in [false, true] {
            try await withServer(certificates) {
                $0.issuesSessionTickets = true
                $0.maximumRequestsPerConnection = closes ? 1 : nil
            } perform: { server in
                try await withClient(.everyHost(first)) {
                    $0.tls.maximumVersion = version
                } perform: { transport in
                    var metrics: [TransportMetrics] = []
                    for identities in [nil, .everyHost(second), nil, ClientIdentityPolicy.none, nil, .everyHost(first)]
                    {
                        if let identities { try transport.replaceClientIdentities(identities) }
                        metrics.append(try await transport.send(server.request()).metrics)
                    }
                    try await Self.expectSeparate(metrics, closes: closes)
                }
                #expect(
                    server.recordedRequests.map(\.clientCertificate)
                        == [
                            alice.certificate, bob.certificate, bob.certificate, nil, nil, alice.certificate,
                        ])
            }
        }
    }

    /// The second request after a replacement, and no other, may resume the first one's session.
    private static func expectSeparate(_ metrics: [TransportMetrics], closes: Bool) async throws {
        let built = [false, false, true, false, true, false]
        #expect(metrics.map(\.isReusedConnection) == (closes ? built.map { _ in false } : built))
        #expect(metrics.map(\.isResumedTLSSession) == (closes ? built : built.map { _ in false }))
    }

    @Test func hostsWhoseIdentityStaysKeepTheirConnections() async throws {
        let alice = try clients.clientIdentity(named: "alice").clientIdentity()
        let bob = try clients.clientIdentity(named: "bob").clientIdentity()
        try await withServer { server in
            try await withClient(try ClientIdentityPolicy(rules: [.init("localhost", alice)])) { transport in
                try await expectText("ok", transport, server.request())
                try transport.replaceClientIdentities(
                    ClientIdentityPolicy(rules: [.init("localhost", alice), .init("example.com", bob)]))
                #expect(try await transport.send(server.request()).metrics.isReusedConnection)
            }
            #expect(server.acceptedConnections == 1)
        }
    }

    @Test func aRunningRequestKeepsItsIdentity() async throws {
        let (alice, bob) = (try clients.clientIdentity(named: "alice"), try clients.clientIdentity(named: "bob"))
        let (arrived, goOn) = (Signal(), Signal())
        try await withServer(handler: { request in
            if request.path == "/slow" {
                arrived.send()
                await goOn.wait()
            }
            return .text("ok")
        }) { server in
            try await withClient(.everyHost(try alice.clientIdentity())) { transport in
                async let slow = transport.send(server.request(.get, "/slow"))
                await arrived.wait()
                try transport.replaceClientIdentities(.everyHost(bob.clientIdentity()))
                try await expectText("ok", transport, server.request())
                goOn.send()
                #expect(try await slow.text == "ok")
                try await expectText("ok", transport, server.request())
            }
            #expect(server.acceptedConnections == 2)
            #expect(
                server.recordedRequests.map(\.clientCertificate)
                    == [alice.certificate, bob.certificate, bob.certificate])
        }
    }

    /// For the sanitizers: identities come and go while connections are opened with them.
    @Test func identitiesAreReplacedWhileManyConnect() async throws {
        let identities = try (0..<4).map { try clients.clientIdentity(named: "client\($0)").clientIdentity() }
        try await withServer {
            $0.maximumRequestsPerConnection = 2
        } perform: { server in
            try await withClient(.everyHost(identities[0])) {
                $0.eventLoops = .dedicated(threads: 3)
            } perform: { transport in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            for _ in 0..<10 { try await expectText("ok", transport, server.request()) }
                        }
                    }
                    for round in 1..<40 {
                        try transport.replaceClientIdentities(.everyHost(identities[round % identities.count]))
                        await Task.yield()
                    }
                    try await group.waitForAll()
                }
            }
            let known = Set(identities.map(\.certificate))
            #expect(!server.recordedRequests.isEmpty)
            #expect(server.recordedRequests.allSatisfy { $0.clientCertificate.map(known.contains) ?? false })
        }
    }
}
