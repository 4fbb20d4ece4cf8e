import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import Testing

/// The function that chooses an identity when a server requests a certificate (RFC 8446, 4.3.2).
@Suite("Chosen client identities", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ClientIdentityChoiceTests {
    static let versions = [TransportConfiguration.TLS.Version.tls12, .tls13]

    private struct NoCard: Error {}

    private let pki: TestPKI
    private let clients: TestPKI
    private let asked = EventRecorder<ClientIdentityPolicy.CertificateRequest>()

    init() throws {
        pki = try TestPKI()
        clients = try TestPKI(named: "Clients")
    }

    private func withServer(
        _ certificates: MockServer.Configuration.ClientCertificates? = nil, perform: (MockServer) async throws -> Void
    ) async throws {
        let configuration = MockServer.Configuration {
            $0.hostName = "localhost"
            $0.issuesSessionTickets = true
            $0.clientCertificates = certificates ?? .required(issuedBy: [clients.root])
        }
        try await withMockServer(
            tls: try pki.identity(), configuration: configuration, handler: { _ in .text("ok") }, perform: perform)
    }

    private func withClient(
        _ version: TransportConfiguration.TLS.Version = .tls13, _ policy: ClientIdentityPolicy = .none,
        timeout: Duration? = nil,
        trusting: Bool = true, _ choose: @escaping ClientIdentityPolicy.CertificateRequest.Chooser,
        perform: (HTTPTransport) async throws -> Void
    ) async throws {
        let anchors = try TrustAnchors.certificates([pki.root])
        try await withTransport(
            {
                if trusting { $0.securityPolicy = .systemTrust(anchors: anchors) }
                $0.tls.maximumVersion = version
                if let timeout { $0.timeouts.tlsHandshake = timeout }
                $0.clientIdentities = policy.asking { [asked] request, proposed in
                    asked.record(request)
                    return try await choose(request, proposed)
                }
            }, perform: perform)
    }

    private func failure(_ transport: HTTPTransport, _ server: MockServer) async -> TransportError? {
        await TransportTests.failure { () async throws(TransportError) in try await transport.send(server.request()) }
    }

    @Test(arguments: versions)
    func theAnswerIsShown(version: TransportConfiguration.TLS.Version) async throws {
        let (alice, bob) = (try clients.clientIdentity(named: "alice"), try pki.clientIdentity(named: "bob"))
        let (fits, other) = (try alice.clientIdentity(), try bob.clientIdentity())
        try await withServer { server in
            try await withClient(version) { request, _ in
                [other, fits].first { request.accepts($0) }
            } perform: { transport in
                try await expectText("ok", transport, server.request())
                try await expectText("ok", transport, server.request())
            }
            #expect(server.recordedRequests.map(\.clientCertificate) == [alice.certificate, alice.certificate])
            let request = try #require(asked.events.first)
            #expect(asked.events.count == 1)
            #expect(request.host == "localhost")
            #expect(request.port == server.url.port)
            #expect(request.acceptableIssuers == [fits.chain.last?.issuer])
        }
    }

    @Test func theIdentityOfThePolicyComesWithTheQuestion() async throws {
        let minted = try clients.clientIdentity(named: "alice")
        let alice = try minted.clientIdentity()
        try await withServer { server in
            try await withClient(.tls13, .everyHost(alice)) { _, proposed in
                #expect(proposed?.id == alice.id)
                return proposed
            } perform: {
                try await expectText("ok", $0, server.request())
            }
            #expect(server.recordedRequests.map(\.clientCertificate) == [minted.certificate])
        }
    }

    @Test(arguments: versions)
    func nilSendsNoCertificateEvenIfThePolicyHasOne(version: TransportConfiguration.TLS.Version) async throws {
        let alice = try clients.clientIdentity().clientIdentity()
        try await withServer { server in
            try await withClient(version, .everyHost(alice)) { _, _ in
                nil
            } perform: {
                #expect(await failure($0, server)?.code == .clientCertificateRequired)
            }
        }
        try await withServer(.requested(issuedBy: [clients.root])) { server in
            try await withClient(version, .everyHost(alice)) { _, _ in
                nil
            } perform: {
                try await expectText("ok", $0, server.request())
            }
            #expect(server.recordedRequests.map(\.clientCertificate) == [nil])
        }
    }

    @Test(arguments: versions)
    func theChoosersErrorEndsTheConnection(version: TransportConfiguration.TLS.Version) async throws {
        try await withServer(.requested(issuedBy: [clients.root])) { server in
            try await withClient(version) { _, _ in
                throw NoCard()
            } perform: { transport in
                let error = await failure(transport, server)
                #expect(error?.code == .clientIdentityUnavailable)
                #expect(error?.underlying is NoCard)
            }
            #expect(server.recordedRequests.isEmpty)
        }
    }

    @Test(arguments: versions)
    func theChooserIsNotCalledWithoutARequestOrTrust(version: TransportConfiguration.TLS.Version) async throws {
        try await withServer(.ignored) { server in
            try await withClient(version) { _, _ in
                throw NoCard()
            } perform: {
                try await expectText("ok", $0, server.request())
            }
        }
        try await withServer { server in
            try await withClient(version, trusting: false) { _, _ in
                throw NoCard()
            } perform: {
                #expect(await failure($0, server)?.code == .trustRefused)
            }
        }
        #expect(asked.events.isEmpty)
    }

    /// A resumed session would keep an earlier choice.
    @Test(arguments: versions)
    func eachConnectionIsAskedAboutAnew(version: TransportConfiguration.TLS.Version) async throws {
        let minted = [try clients.clientIdentity(named: "alice"), try clients.clientIdentity(named: "bob")]
        let identities = try minted.map { try $0.clientIdentity() }
        let asked = asked
        try await withServer { server in
            try await withClient(version) { _, _ in
                identities[(asked.events.count - 1) % 2]
            } perform: { transport in
                for _ in 0..<4 {
                    let response = try await transport.send(server.request())
                    #expect(!response.metrics.isResumedTLSSession)
                    transport.discard(.connections)
                }
            }
            let shown = (minted + minted).map(\.certificate)
            #expect(server.recordedRequests.map(\.clientCertificate) == shown)
        }
    }

    @Test func sessionsOfServersThatDoNotAskAreResumed() async throws {
        try await withServer(.ignored) { server in
            try await withClient { _, _ in
                nil
            } perform: { transport in
                _ = try await transport.send(server.request())
                transport.discard(.connections)
                let second = try await transport.send(server.request())
                #expect(second.metrics.isResumedTLSSession)
            }
        }
    }

    /// A connection made with one choice is not used after the policy was replaced.
    @Test func aReplacedPolicyIsAskedAnew() async throws {
        let (alice, bob) = (try clients.clientIdentity(named: "alice"), try clients.clientIdentity(named: "bob"))
        let (first, second) = (try alice.clientIdentity(), try bob.clientIdentity())
        try await withServer { server in
            try await withClient { _, _ in
                first
            } perform: { transport in
                try await expectText("ok", transport, server.request())
                try transport.replaceClientIdentities(ClientIdentityPolicy.none.asking { _, _ in second })
                try await expectText("ok", transport, server.request())
                try transport.replaceClientIdentities(.everyHost(first))
                try await expectText("ok", transport, server.request())
            }
            let shown = [alice, bob, alice].map(\.certificate)
            #expect(server.recordedRequests.map(\.clientCertificate) == shown)
        }
    }

    @Test func theTimeoutOfTheHandshakeHolds() async throws {
        try await withServer { server in
            try await withClient(timeout: .milliseconds(200)) { _, _ in
                try await Task.sleep(for: .seconds(120))
                return nil
            } perform: {
                #expect(await failure($0, server)?.code == .tlsTimeout)
            }
        }
    }

    @Test func aShutdownDoesNotWaitForTheAnswer() async throws {
        let (isAsked, goOn) = (LinnetTesting.Signal(), LinnetTesting.Signal())
        try await withServer { server in
            try await withClient { _, _ in
                isAsked.fire()
                await goOn.wait()
                return nil
            } perform: { transport in
                async let error = failure(transport, server)
                await isAsked.wait()
                await transport.shutdown(.immediate)
                goOn.fire()
                #expect(await error != nil)
            }
        }
    }
}
