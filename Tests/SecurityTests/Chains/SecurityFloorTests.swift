import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Keys and signatures of less than 112 bits, of which rules may allow some.
@Suite("Security bits", .timeLimit(.minutes(1)))
struct SecurityFloorTests {
    private static let all: Set<ChainRule> = [.sha1Signatures, .md5Signatures, .rsaKeySize]

    private let pki: TestPKI
    private let issuer: ForgedCertificate

    init() throws {
        pki = try TestPKI()
        issuer = try TestPKI.forgeRoot(.authority())
    }

    private func weakness(
        without rules: ChainRule..., at position: ChainLink.Position = .leaf,
        by other: ForgedCertificate? = nil, _ change: (inout CertificateTemplate) -> Void
    ) throws -> String? {
        var template = CertificateTemplate.server()
        change(&template)
        return SecurityFloor.weakness(
            try pki.forge(template, by: other ?? issuer).certificate.handle, at: position, Self.all.subtracting(rules))
    }

    @Test(arguments: [TestPKI.KeyKind.p256, .p384, .rsa2048, .ed25519])
    func strongKeysHave112BitsAtLeast(kind: TestPKI.KeyKind) throws {
        #expect(try weakness { $0.keyKind = kind } == nil)
        #expect(try weakness(without: .rsaKeySize, .sha1Signatures, .md5Signatures) { $0.keyKind = kind } == nil)
    }

    @Test func smallKeyOfRSAIsAllowedByItsRule() throws {
        let text = "has a key of 80 bits of security, less than 112"
        for position in [ChainLink.Position.leaf, .intermediate, .ownAnchor, .issuingAnchor] {
            #expect(try weakness(at: position) { $0.keyKind = .rsa1024 } == text)
            #expect(try weakness(without: .rsaKeySize, at: position) { $0.keyKind = .rsa1024 } == nil)
            #expect(
                try weakness(without: .sha1Signatures, .md5Signatures, at: position) { $0.keyKind = .rsa1024 } == text)
            // The rule is about RSA.
            #expect(
                try weakness(without: .rsaKeySize, at: position) { $0.keyKind = .p192 }?.contains("a key of") == true)
        }
    }

    @Test func keyThatCannotBeReadHasNoSecurity() throws {
        let key = UnsignedCertificate.key("1.2.3.4")
        let text = "has a key of 0 bits of security, less than 112"
        #expect(try weakness { $0.publicKey = key } == text)
        #expect(try weakness(without: .rsaKeySize) { $0.publicKey = key } == text)
    }

    @Test func weakDigestIsAllowedByItsRule() throws {
        // ECDSA has no MD5.
        var template = CertificateTemplate.authority()
        template.keyKind = .rsa2048
        let rsa = try TestPKI.forgeRoot(template)
        for (digest, rule, other) in [
            ("SHA1", ChainRule.sha1Signatures, ChainRule.md5Signatures), ("MD5", .md5Signatures, .sha1Signatures),
        ] {
            let weak: (inout CertificateTemplate) -> Void = { $0.digest = digest }
            #expect(try weakness(by: rsa, weak)?.contains("has a signature of") == true)
            #expect(try weakness(without: rule, by: rsa, weak) == nil)
            #expect(try weakness(without: other, .rsaKeySize, by: rsa, weak)?.contains("a signature of") == true)
            #expect(try weakness(without: rule, at: .intermediate, by: rsa, weak) == nil)
            #expect(try weakness(at: .intermediate, by: rsa, weak) != nil)
            // The signature of an anchor is not verified.
            #expect(try weakness(at: .issuingAnchor, by: rsa, weak) == nil)
            #expect(try weakness(at: .ownAnchor, by: rsa, weak) == nil)
        }
    }

    @Test func digestOf112BitsIsStrong() throws {
        #expect(try weakness { $0.digest = "SHA224" } == nil)
        #expect(try weakness { $0.digest = "SHA512" } == nil)
    }

    @Test func unknownSignatureHasNoSecurity() throws {
        let text = "has a signature of 0 bits of security, less than 112"
        #expect(try weakness { $0.algorithm = ASN1.sequence(ASN1.object("1.2.3.4")) } == text)
    }
}
