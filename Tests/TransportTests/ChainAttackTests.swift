import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import Testing

/// Attacks with chains, and valid chains that were once refused, over sockets: a refused server gets no request.
@Suite("Chains over sockets", .timeLimit(.minutes(2)))
struct ChainAttackTests {
    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    /// A root, an authority below it, and a server's certificate.
    private struct Draft {
        var root = CertificateTemplate.authority("Root")
        var authority = CertificateTemplate.authority("Authority")
        var leaf = CertificateTemplate.server(hosts: ["bar.example.com"])
    }

    private func make(
        _ change: (inout Draft) -> Void
    ) throws -> (root: ForgedCertificate, authority: ForgedCertificate, leaf: ForgedCertificate) {
        var draft = Draft()
        change(&draft)
        let root = try TestPKI.forgeRoot(draft.root)
        let authority = try pki.forge(draft.authority, by: root)
        return (root, authority, try pki.forge(draft.leaf, by: authority))
    }

    private func reason(
        _ profile: ChainProfile = .default, change: (inout Draft) -> Void
    ) async throws -> TrustRefusal.Reason? {
        let (root, authority, leaf) = try make(change)
        let identity = try TestPKI.identity(leaf, issuers: [authority])
        return try await reason(identity, anchors: [root.certificate], profile)
    }

    /// The reason of the refusal, or nil for a response. The server must have received a request only in that case.
    private func reason(
        _ identity: TestPKI.Identity, anchors: [X509Certificate], _ profile: ChainProfile = .default,
        host: String = "bar.example.com", staple: Data? = nil
    ) async throws -> TrustRefusal.Reason? {
        let configuration = MockServer.Configuration {
            $0.hostName = host
            $0.stapledOCSPResponse = staple
        }
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try .certificates(anchors), profile: profile)
        return try await withMockServer(tls: identity, configuration: configuration) { _ in
            .text("secret")
        } perform: { server in
            try await withTransport({
                $0.securityPolicy = .everyHost(evaluator)
                $0.resolution.hostOverrides = [host: ["127.0.0.1"]]
            }) { transport in
                do throws(TransportError) {
                    let response = try await transport.send(server.request())
                    #expect(response.text == "secret")
                    return nil
                } catch {
                    #expect(error.code == .trustRefused, "\(error)")
                    #expect(server.recordedRequests.isEmpty)
                    return error.trustRefusal?.reason
                }
            }
        }
    }

    private static func excluding(_ host: String) -> [UInt8] {
        ASN1.sequence(ASN1.value(0xA1, ASN1.sequence(ASN1.host(host))))
    }

    /// The class of CVE-2025-61727.
    @Test func aWildcardDoesNotBypassAnExcludedName() async throws {
        let constraint = Self.excluding("bar.example.com")
        for profile in [ChainProfile.default, .strict, .lenient] {
            #expect(
                try await reason(profile) {
                    $0.authority.set("2.5.29.30", critical: true, constraint)
                    $0.leaf = .server(hosts: ["*.example.com"])
                } == .nameNotPermitted)
            #expect(
                try await reason(profile) {
                    $0.root.set("2.5.29.30", critical: true, constraint)
                    $0.leaf = .server(hosts: ["*.example.com"])
                } == .nameNotPermitted)
        }
        #expect(
            try await reason {
                $0.root.set("2.5.29.30", critical: true, Self.excluding("bar.example.org"))
                $0.leaf = .server(hosts: ["*.example.com"])
            } == nil)
    }

    @Test func anExceptionForSHA1AllowsNoOtherWeakness() async throws {
        let profile = ChainProfile.lenient.allowing(.sha1Signatures)
        #expect(try await reason(profile) { $0.leaf.digest = "SHA1" } == nil)
        #expect(try await reason(profile) { $0.authority.keyKind = .p192 } == .weakSecurity)
        #expect(try await reason(profile) { $0.authority.keyKind = .rsa1024 } == .rsaKeySize)
    }

    @Test func aStapleOverSHA1IsDetectedBehindPSS() async throws {
        var profile = ChainProfile.default
        profile.revocation.failure = .hardForLeaf
        let identity = try pki.identity()
        let responder = try pki.responder { $0.key = .rsa2048 }
        for (digest, wanted) in [("SHA1", .stapleInvalid), ("SHA256", nil)] as [(String, TrustRefusal.Reason?)] {
            let staple = try pki.ocspResponse(about: identity, signedBy: responder, pssDigest: digest)
            #expect(
                try await reason(identity, anchors: [pki.root], profile, host: "localhost", staple: staple) == wanted)
        }
    }

    @Test func onlyTheStrictProfileRefusesPrivateAuthoritiesPractices() async throws {
        let changes: [(@Sendable (inout Draft) -> Void, TrustRefusal.Reason)] = [
            ({ $0.authority.set("2.5.29.15", critical: false) }, .keyUsageNotCritical),
            ({ $0.leaf.subject = ASN1.name("Example API") }, .commonNameNotInNames),
            ({ $0.root.set("2.5.29.19", []) }, .flawedAnchor),
        ]
        for (change, wanted) in changes {
            #expect(try await reason(change: change) == nil)
            #expect(try await reason(.strict, change: change) == wanted)
        }
    }

    @Test func anotherPathIsUsedIfAConstraintForbidsTheFirst() async throws {
        let (root, authority, leaf) = try make { _ in }
        var template = CertificateTemplate.authority("Authority")
        template.set("2.5.29.30", critical: true, Self.excluding("example.com"))
        let crossed = try TestPKI.forge(template, withKeyOf: authority, by: root)
        for issuers in [[crossed, authority], [authority, crossed]] {
            let identity = try TestPKI.identity(leaf, issuers: issuers)
            #expect(try await reason(identity, anchors: [root.certificate]) == nil)
        }
        let identity = try TestPKI.identity(leaf, issuers: [crossed])
        #expect(try await reason(identity, anchors: [root.certificate]) == .nameNotPermitted)
    }
}
