import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import Testing

/// Stapled responses are evaluated in every TLS version before a request is sent.
@Suite("Stapled OCSP responses", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct StapleTests {
    static let versions = [TransportConfiguration.TLS.Version.tls12, .tls13]

    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    /// The reason of the refusal, or nil for a response. The server must have received a request only in that case.
    private func reason(
        _ version: TransportConfiguration.TLS.Version, _ identity: TestPKI.Identity, staple: Data?,
        _ failure: RevocationOptions.Failure = .soft
    ) async throws -> TrustRefusal.Reason? {
        var profile = ChainProfile.strict
        profile.revocation.failure = failure
        let policy = SecurityPolicy.everyHost(
            StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root]), profile: profile))
        let configuration = MockServer.Configuration {
            $0.hostName = "localhost"
            $0.stapledOCSPResponse = staple
        }
        return try await withMockServer(tls: identity, configuration: configuration) { _ in
            .text("ok")
        } perform: { server in
            var options = TransportConfiguration()
            options.securityPolicy = policy
            options.tls.maximumVersion = version
            let transport = try HTTPTransport(options)
            do {
                let response = try await transport.send(server.request())
                #expect(response.metrics.tlsVersion == (version == .tls12 ? "TLSv1.2" : "TLSv1.3"))
                return nil
            } catch let error as TransportError {
                #expect(error.code == .trustRefused)
                #expect(server.recordedRequests.isEmpty)
                return error.trustRefusal?.reason
            }
        }
    }

    @Test(arguments: versions)
    func aRevokedCertificateIsRefused(version: TransportConfiguration.TLS.Version) async throws {
        let identity = try pki.identity()
        #expect(try await reason(version, identity, staple: pki.ocspResponse(about: identity, .revoked)) == .revoked)
        #expect(try await reason(version, identity, staple: pki.ocspResponse(about: identity)) == nil)
        #expect(try await reason(version, identity, staple: nil) == nil)
    }

    @Test(arguments: versions)
    func aPromiseToStapleIsKept(version: TransportConfiguration.TLS.Version) async throws {
        let identity = try pki.identity { $0.promisesStaple = true }
        #expect(try await reason(version, identity, staple: nil) == .stapleMissing)
        #expect(try await reason(version, identity, staple: pki.ocspResponse(about: identity)) == nil)
        let outdated = try pki.ocspResponse(about: identity, validity: .expired)
        #expect(try await reason(version, identity, staple: outdated) == .stapleOutdated)
    }

    @Test(arguments: versions)
    func requiredRevocationInformationMustBePresent(version: TransportConfiguration.TLS.Version) async throws {
        let identity = try pki.identity()
        #expect(try await reason(version, identity, staple: nil, .hardForLeaf) == .revocationUnknown)
        #expect(try await reason(version, identity, staple: pki.ocspResponse(about: identity), .hardForLeaf) == nil)
    }

    /// Creates its own result from another's, and loses the state of its wait.
    private struct Forgetful: TrustEvaluator {
        let evaluator: any TrustEvaluator

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            let decision = await evaluator.evaluate(trust)
            guard case .accepted(let inner) = decision else { return decision }
            return .accepted(VerifiedTrust(chain: inner.chain, pins: inner.pins, isPinned: false))
        }
    }

    @Test(arguments: versions)
    func aCustomEvaluatorLosesNothing(version: TransportConfiguration.TLS.Version) async throws {
        var profile = ChainProfile.strict
        profile.revocation.failure = .hardForLeaf
        let own = Forgetful(
            evaluator: StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root]), profile: profile))
        let configuration = MockServer.Configuration { $0.hostName = "localhost" }
        try await withMockServer(tls: try pki.identity(), configuration: configuration) { _ in
            .text("ok")
        } perform: { server in
            try await withTransport({
                $0.securityPolicy = .everyHost(own)
                $0.tls.maximumVersion = version
            }) { transport in
                let error = await failure { () async throws(TransportError) in
                    try await transport.send(server.request())
                }
                #expect(error?.trustRefusal?.reason == .revocationUnknown)
            }
            #expect(server.recordedRequests.isEmpty)
        }
    }
}
