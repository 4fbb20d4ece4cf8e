import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import Testing

/// Policies and requests in clear text, over sockets.
@Suite("Clear text", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CleartextTests {
    private func head(_ scheme: String, _ host: String, _ server: MockServer) -> HTTPRequest {
        HTTPRequest(method: .get, scheme: scheme, authority: "\(host):\(server.port)", path: "/")
    }

    /// The code of the error; nil for a response.
    private func code(
        _ policy: SecurityPolicy, _ scheme: String = "http", host: String = "127.0.0.1", tls: TestPKI.Identity? = nil
    ) async throws -> TransportError.Code? {
        try await withMockServer(tls: tls) { _ in
            .text("ok")
        } perform: { server in
            try await withTransport({ $0.securityPolicy = policy }) { transport in
                let head = head(scheme, host, server)
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(TransportRequest(head: head))
                }
                let isRefused = error?.code == .cleartextRefused
                if isRefused || error?.code == .invalidRequest { #expect(server.acceptedConnections == 0) }
                if isRefused {
                    let prewarming = #expect(throws: TransportError.self) { try transport.prewarm(head) }
                    #expect(prewarming?.code == .cleartextRefused)
                    #expect(transport.openConnections == 0)
                }
                return error?.code
            }
        }
    }

    @Test func aPolicyThatRefusesAHostRefusesItsClearText() async throws {
        #expect(try await code(.everyHost(.refuse)) == .cleartextRefused)
        let rule = try SecurityPolicy(rules: [HostRule("127.0.0.0/8", .refuse)])
        #expect(try await code(rule) == .cleartextRefused)
        let others = try SecurityPolicy(rules: [HostRule("localhost", .systemTrust)], otherHosts: .refuse)
        #expect(try await code(others) == .cleartextRefused)
        #expect(try await code(others, host: "localhost") == nil)
        #expect(try await code(.systemTrust) == nil)
    }

    @Test func aStricterRuleRefusesItTooUnlessItSaysOtherwise() async throws {
        let pki = try TestPKI()
        let evaluator = try StandardTrustEvaluator.onlyAnchors([pki.root])
        #expect(try await code(.everyHost(evaluator)) == .cleartextRefused)
        #expect(try await code(.everyHost(evaluator.insecureAllowingCleartext())) == nil)
    }

    @Test(arguments: ["[::ffff:127.0.0.1]", "[::FFFF:7F00:1]", "127.0.0.1."])
    func anotherSpellingOfAnAddressIsTheAddress(host: String) async throws {
        let identity = try TestPKI.selfSigned { $0.addresses = ["127.0.0.1"] }
        let refusing = try SecurityPolicy(
            rules: [HostRule("127.0.0.1", .refuse)], otherHosts: .insecureAcceptAnyCertificate)
        #expect(try await code(refusing, host: host) == .cleartextRefused)
        #expect(try await code(refusing, "https", host: host, tls: identity) == .trustRefused)
        let trusting = try SecurityPolicy(
            rules: [HostRule("@private", .certificatePins([identity.certificate]))], otherHosts: .refuse)
        #expect(try await code(trusting, "https", host: host, tls: identity) == nil)
    }

    @Test(arguments: [
        "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.1.", "%3127.0.0.1", "\u{FF11}27.1", "[name]",
    ])
    func anAmbiguousHostIsNotRequested(host: String) async throws {
        let refusing = try SecurityPolicy(rules: [HostRule("127.0.0.0/8", .refuse)])
        for policy in [refusing, .systemTrust] {
            for scheme in ["http", "https"] { #expect(try await code(policy, scheme, host: host) == .invalidRequest) }
        }
    }

    /// A rule for addresses does not apply to names, whatever they resolve to.
    @Test func aRuleForAddressesIsNotForNames() async throws {
        let identity = try TestPKI.selfSigned { $0.hosts = ["localhost"] }
        let policy = try SecurityPolicy(
            rules: [HostRule("127.0.0.0/8", .refuse), HostRule("localhost", .certificatePins([identity.certificate]))],
            otherHosts: .refuse)
        #expect(try await code(policy, "https", host: "localhost", tls: identity) == nil)
        #expect(try await code(policy, "https", tls: identity) == .trustRefused)
    }
}
