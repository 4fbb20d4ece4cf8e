import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// An exception allows one weakness only, and a weak digest is detected in every signature.
@Suite("Exceptions for weak keys and digests", .timeLimit(.minutes(1)))
struct WeaknessTests {
    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    /// DSA with a modulus of 1024 bits (RFC 3279, 2.3.2) of arbitrary numbers.
    private static let dsa1024: [UInt8] = {
        let (p, q) = (
            [0xC1] + [UInt8](repeating: 0x5A, count: 126) + [1], [0xC1] + [UInt8](repeating: 0x5A, count: 18) + [1]
        )
        let parameters = ASN1.sequence(ASN1.positive(p), ASN1.positive(q), ASN1.integer(2))
        let key = ASN1.bitString(ASN1.positive([UInt8](repeating: 0x33, count: 128)))
        return ASN1.sequence(ASN1.sequence(ASN1.object("1.2.840.10040.4.1"), parameters), key)
    }()

    private func reason(
        _ profile: ChainProfile, authority: (inout CertificateTemplate) -> Void = { _ in },
        leaf: (inout CertificateTemplate) -> Void
    ) async throws -> TrustRefusal.Reason? {
        var (issuing, server) = (CertificateTemplate.authority(), CertificateTemplate.server())
        authority(&issuing)
        leaf(&server)
        let issuer = try pki.forge(issuing, byRoot: true)
        let chain = [try pki.forge(server, by: issuer).der, issuer.der]
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root]), profile: profile)
        return await evaluator.evaluate(ServerTrust(host: "localhost", port: 443, presentedChain: chain)).refusal?
            .reason
    }

    @Test func exceptionForSHA1AllowsNoOtherWeakness() async throws {
        for profile in [ChainProfile.lenient, .default] {
            let excepted = profile.allowing(.sha1Signatures)
            #expect(try await reason(profile) { $0.digest = "SHA1" } == .sha1Signatures)
            #expect(try await reason(excepted) { $0.digest = "SHA1" } == nil)
        }
        let excepted = ChainProfile.lenient.allowing(.sha1Signatures)
        #expect(try await reason(excepted) { $0.keyKind = .p192 } == .weakSecurity)
        #expect(try await reason(excepted) { $0.publicKey = Self.dsa1024 } == .weakSecurity)
        #expect(try await reason(excepted, authority: { $0.keyKind = .p192 }) { $0.digest = "SHA1" } == .weakSecurity)
        #expect(try await reason(excepted) { $0.keyKind = .rsa1024 } == .rsaKeySize)
    }

    @Test func exceptionForSmallRSAKeysAllowsNoOtherWeakness() async throws {
        let excepted = ChainProfile.lenient.allowing(.rsaKeySize)
        #expect(try await reason(excepted) { $0.keyKind = .rsa1024 } == nil)
        #expect(try await reason(excepted) { $0.keyKind = .p192 } == .weakSecurity)
        #expect(try await reason(excepted) { $0.digest = "SHA1" } == .sha1Signatures)
        #expect(try await reason(.default.allowing(.ellipticCurve)) { $0.keyKind = .p192 } == .weakSecurity)
    }

    // MARK: RSASSA-PSS

    /// AlgorithmIdentifier of RSASSA-PSS (RFC 4055, 3.1); with the default digest, SHA-1, for nil.
    private static func pss(_ digest: String?) -> [UInt8] {
        let hash = digest.map { ASN1.value(0xA0, ASN1.sequence(ASN1.object($0), ASN1.null)) } ?? []
        return ASN1.sequence(ASN1.object("1.2.840.113549.1.1.10"), ASN1.sequence(hash))
    }

    private static func weakness(_ algorithm: [UInt8]) throws -> WeakDigest? {
        let der = DER(bytes: algorithm)
        return WeakDigest(try CertificateFacts.algorithm(der, der.root(DER.Tag.sequence)))
    }

    @Test func digestOfPSSIsReadFromItsParameters() throws {
        #expect(try Self.weakness(Self.pss(nil)) == .sha1)
        #expect(try Self.weakness(Self.pss("1.3.14.3.2.26")) == .sha1)
        #expect(try Self.weakness(Self.pss("1.2.840.113549.2.5")) == .md5)
        #expect(try Self.weakness(Self.pss("2.16.840.1.101.3.4.2.1")) == nil)
        #expect(try Self.weakness(ASN1.sequence(ASN1.object("1.2.840.113549.1.1.10"))) == .sha1)
        #expect(try Self.weakness(ASN1.sequence(ASN1.object("1.2.840.113549.1.1.10"), ASN1.null)) == .unreadable)
    }

    private static func list(_ algorithm: [UInt8]) -> Data {
        let number = ASN1.sequence(ASN1.object("2.5.29.20"), ASN1.octetString(ASN1.integer(1)))
        let body = ASN1.sequence(
            ASN1.integer(1), algorithm, ASN1.name("Authority"), CertificateTemplate.time(daysFromNow: -1),
            CertificateTemplate.time(daysFromNow: 1), ASN1.value(0xA0, ASN1.sequence(number)))
        return Data(ASN1.sequence(body, algorithm, ASN1.bitString([1, 2, 3])))
    }

    @Test func listSignedWithPSSAndSHA1IsRefused() throws {
        for algorithm in [Self.pss(nil), Self.pss("1.3.14.3.2.26"), Self.pss("1.2.840.113549.2.5")] {
            let error = #expect(throws: SecurityError.self) { try RevocationList(der: Self.list(algorithm)) }
            #expect(error?.code == .invalidRevocationList)
            #expect(error?.message.contains("SHA-1") == true)
        }
        #expect(throws: Never.self) { try RevocationList(der: Self.list(Self.pss("2.16.840.1.101.3.4.2.1"))) }
    }

    @Test func stapleSignedWithPSSAndSHA1IsRefused() async throws {
        let identity = try pki.identity()
        let responder = try pki.responder { $0.key = .rsa2048 }
        for (digest, allowed, wanted) in [
            ("SHA1", false, .stapleInvalid), ("SHA256", false, nil), ("SHA1", true, nil),
        ] as [(String, Bool, TrustRefusal.Reason?)] {
            var profile = allowed ? ChainProfile.default.allowing(.sha1Signatures) : .default
            profile.revocation.failure = .hardForLeaf
            var trust = ServerTrust(identity.chain)
            trust.stapledOCSPResponse = try pki.ocspResponse(about: identity, signedBy: responder, pssDigest: digest)
            let evaluator = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors, profile: profile)
            #expect(await evaluator.evaluate(trust).refusal?.reason == wanted, "\(digest), allowed: \(allowed)")
        }
    }
}
