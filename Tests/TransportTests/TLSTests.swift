import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

@Suite("TLS", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct TLSTests {
    /// Judges as it is told, and may take its time.
    struct Deciding: TrustEvaluator {
        var decide: @Sendable (ServerTrust) async -> TrustDecision
        func evaluate(_ trust: ServerTrust) async -> TrustDecision { await decide(trust) }
    }

    /// One request to a server with this identity, under this policy.
    private func exchange(
        _ identity: TestPKI.Identity, _ policy: SecurityPolicy, host: String = "localhost",
        response: MockResponse = .text("secret"), configure: (inout TransportConfiguration) -> Void = { _ in }
    ) async throws -> Result<TransportResponse, TransportError> {
        let server = MockServer.Configuration { $0.hostName = host }
        return try await withMockServer(tls: identity, configuration: server) { _ in
            response
        } perform: { server in
            try await withTransport({
                $0.securityPolicy = policy
                configure(&$0)
            }) { transport in
                do throws(TransportError) {
                    return .success(try await transport.send(server.request()))
                } catch {
                    return .failure(error)
                }
            }
        }
    }

    @Test(arguments: TestPKI.KeyKind.allCases)
    func aTrustedServerReceivesTheRequest(key: TestPKI.KeyKind) async throws {
        let pki = try TestPKI()
        let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        let response = try await exchange(try pki.identity { $0.key = key }, policy).get()
        #expect(response.text == "secret")
        #expect(response.metrics.tlsVersion == "TLSv1.3")
        #expect(response.metrics.tlsCipher?.hasPrefix("TLS_") == true)
        #expect(response.metrics.tlsHandshake != nil)
        #expect(!response.metrics.isPinned)
        #expect(response.metrics.verifiedPins.count == 3)
    }

    @Test func aPinnedServerReceivesTheRequest() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let policy = try SecurityPolicy.publicKeyPins([identity.pin], anchors: .certificates([pki.root]))
        let response = try await exchange(identity, policy).get()
        #expect(response.metrics.isPinned)
        #expect(response.metrics.verifiedPins.first == identity.pin.description)
    }

    @Test func anotherPinRefuses() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let wanted = try TestPKI.selfSigned().pin
        let policy = try SecurityPolicy.publicKeyPins([wanted], anchors: .certificates([pki.root]))
        let error = try await exchange(identity, policy).failure
        #expect(error?.code == .trustRefused)
        #expect(error?.trustRefusal?.reason == .pinMismatch)
        #expect(error?.trustRefusal?.seenPins.first == identity.pin)
        #expect(error?.trustRefusal?.wantedPins == [wanted])
    }

    @Test func theReasonsForRefusalAreReported() async throws {
        let pki = try TestPKI()
        let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        let cases: [(TestPKI.Identity, TrustRefusal.Reason)] = [
            (try pki.identity { $0.validity = .expired }, .expired),
            (try pki.identity { $0.validity = .notYetValid }, .notYetValid),
            (try pki.identity { ($0.hosts, $0.addresses) = (["other.example"], []) }, .hostnameMismatch),
            (try pki.identity { $0.isForClients = true }, .invalidPurpose),
            (try TestPKI().identity(), .unknownAuthority),
            (try TestPKI.selfSigned(), .selfSigned),
        ]
        for (identity, reason) in cases {
            let error = try await exchange(identity, policy).failure
            #expect(error?.code == .trustRefused)
            #expect(error?.trustRefusal?.reason == reason)
        }
    }

    @Test func nothingIsSentToARefusedServer() async throws {
        let pki = try TestPKI()
        try await withMockServer(tls: try pki.identity()) { _ in
            .text("secret")
        } perform: { server in
            try await withTransport({ $0.securityPolicy = .systemTrust }) { transport in
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(server.request(fields: [.authorization: "Basic secret"]))
                }
                #expect(error?.code == .trustRefused)
            }
            #expect(server.recordedRequests.isEmpty)
        }
    }

    @Test func addressesAreCheckedAsAddresses() async throws {
        let pki = try TestPKI()
        let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        let address = try pki.identity { $0.hosts = [] }
        let name = try pki.identity { ($0.hosts, $0.addresses) = (["localhost", "127.0.0.1"], []) }
        #expect(try await exchange(address, policy, host: "127.0.0.1").failure == nil)
        let error = try await exchange(name, policy, host: "127.0.0.1").failure
        #expect(error?.trustRefusal?.reason == .hostnameMismatch)
    }

    @Test func aVerdictCanTakeItsTime() async throws {
        let policy = SecurityPolicy.everyHost(
            Deciding { trust in
                for _ in 0..<1000 { await Task.yield() }
                return .accepted(VerifiedTrust(chain: trust.presentedChain, pins: [], isPinned: false))
            })
        #expect(try await exchange(try TestPKI.selfSigned(), policy).get().text == "secret")
    }

    @Test func theVerdictSeesTheWholeChain() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let policy = SecurityPolicy.everyHost(
            Deciding { trust in
                #expect(trust.host == "localhost")
                #expect(trust.presentedChain == identity.chain.map(\.derBytes))
                return .accepted(VerifiedTrust(chain: trust.presentedChain, pins: [], isPinned: false))
            })
        #expect(try await exchange(identity, policy).failure == nil)
    }

    @Test func anEndlessVerdictEndsAtTheTimeout() async throws {
        let policy = SecurityPolicy.everyHost(
            Deciding { trust in
                let never = AsyncStream<Never> { _ in }
                for await _ in never {}
                return .refused(TrustRefusal(.hostRefused, "cancelled", trust: trust))
            })
        let error = try await exchange(try TestPKI.selfSigned(), policy) {
            $0.timeouts.tlsHandshake = .milliseconds(100)
        }.failure
        #expect(error?.code == .tlsTimeout)
    }

    @Test func serversWithoutTLSFailTheHandshake() async throws {
        try await withMockServer { _ in
            .text("plain")
        } perform: { server in
            try await withTransport { transport in
                let head = HTTPRequest(method: .get, scheme: "https", authority: "127.0.0.1:\(server.port)", path: "/")
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(TransportRequest(head: head))
                }
                #expect(error?.code == .tlsHandshakeFailed)
            }
        }
    }

    @Test func largeBodiesPassInBothDirections() async throws {
        let pki = try TestPKI()
        let policy = SecurityPolicy.systemTrust(anchors: try .certificates([pki.root]))
        var bytes = ByteBuffer()
        for number in 0..<512 * 1024 { bytes.writeInteger(number) }
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        try await withMockServer(tls: try pki.identity(), configuration: configuration) { request in
            MockResponse(body: .bytes(request.body))
        } perform: { server in
            try await withTransport({ $0.securityPolicy = policy }) { transport in
                let response = try await transport.send(
                    server.request(.post, body: .bytes(bytes)))
                #expect(response.body.whole == bytes)
            }
        }
    }

    // MARK: Ends

    @Test func anEndWithoutCloseNotifyDoesNotEndABody() async throws {
        let policy = SecurityPolicy.insecureAcceptAnyCertificate
        let cut = MockResponse(body: .untilClose(Data("half".utf8))).with(.init(.truncate, at: .responseEnd))
        let whole = MockResponse(body: .untilClose(Data("whole".utf8)))
        let identity = try TestPKI.selfSigned()
        #expect(try await exchange(identity, policy, response: cut).failure?.code == .tlsTruncated)
        #expect(try await exchange(identity, policy, response: whole).get().text == "whole")
    }

    @Test func anEndWithoutCloseNotifyIsAcceptedAfterAFramedBody() async throws {
        let response = MockResponse.text("whole").with(.init(.truncate, at: .responseEnd))
        let result = try await exchange(
            try TestPKI.selfSigned(), .insecureAcceptAnyCertificate, response: response)
        #expect(try result.get().text == "whole")
    }

    // MARK: Policies at run time

    @Test func aReplacedPolicyServesNoOldConnection() async throws {
        let pki = try TestPKI()
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        let server = try await MockServer.start(tls: try pki.identity(), configuration: configuration) { _ in
            .text("ok")
        }
        try await withTransport({ $0.securityPolicy = .insecureAcceptAnyCertificate }) { transport in
            try await expectText("ok", transport, server.request())
            transport.replaceSecurityPolicy(
                try .publicKeyPins([TestPKI.selfSigned().pin], anchors: .certificates([pki.root])))
            let error = await failure { () async throws(TransportError) in try await transport.send(server.request()) }
            #expect(error?.trustRefusal?.reason == .pinMismatch)
            transport.replaceSecurityPolicy(.systemTrust(anchors: try .certificates([pki.root])))
            try await expectText("ok", transport, server.request())
        }
        #expect(server.recordedRequests.count == 2)
        await server.shutdown()
    }

    @Test func aPinnedHostReceivesNothingInClearText() async throws {
        let pins = try StandardTrustEvaluator.pins([TestPKI.selfSigned().pin])
        let policy = try SecurityPolicy(rules: [HostRule("127.0.0.1", pins)])
        try await withMockServer { _ in
            .text("plain")
        } perform: { server in
            try await withTransport({ $0.securityPolicy = policy }) { transport in
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(server.request())
                }
                #expect(error?.code == .cleartextRefused)
            }
            #expect(server.acceptedConnections == 0)
        }
        let elsewhere = MockServer.Configuration { $0.hostName = "localhost" }
        try await withMockServer(configuration: elsewhere) { _ in
            .text("plain")
        } perform: { server in
            try await withTransport({ $0.securityPolicy = policy }) {
                try await expectText("plain", $0, server.request())
            }
        }
    }

    // MARK: Options

    @Test func versionsCanBeNarrowed() async throws {
        let identity = try TestPKI.selfSigned()
        let response = try await exchange(identity, .insecureAcceptAnyCertificate) {
            $0.tls.maximumVersion = .tls12
        }.get()
        #expect(response.metrics.tlsVersion == "TLSv1.2")
    }

    @Test func optionsThatCannotBeEnforcedAreRefused() {
        var crossed = TransportConfiguration()
        crossed.tls.minimumVersion = .tls13
        crossed.tls.maximumVersion = .tls12
        var unknown = TransportConfiguration()
        unknown.tls.cipherList = "NO-SUCH-CIPHER"
        var suites = TransportConfiguration()
        suites.tls.cipherSuites = "TLS_NO_SUCH_SUITE"
        for configuration in [crossed, unknown, suites] {
            let error = #expect(throws: TransportError.self) { try HTTPTransport(configuration) }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
