import COpenSSL
import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

/// Certificates that OpenSSL accepts and RFC 5280, RFC 9525 or the Baseline Requirements forbid: each is refused with
/// its own reason, and accepted if that rule is allowed and by the lenient profile.
@Suite("Rules of the strict profile", .timeLimit(.minutes(5)))
struct StrictRuleTests {
    /// A flaw and the rule that it violates.
    struct Flaw: Sendable, CustomStringConvertible {
        let rule: ChainRule
        let description: String
        /// Whether the authority has the flaw.
        var isAuthoritys = false
        /// Whether OpenSSL, and so the lenient profile, accepts it.
        var passesOpenSSL = true
        /// Whether the chain is accepted once its rule is allowed.
        var isAllowable = true
        let make: @Sendable (inout CertificateTemplate) -> Void

        init(
            _ rule: ChainRule, _ description: String, authority: Bool = false, passesOpenSSL: Bool = true,
            make: @escaping @Sendable (inout CertificateTemplate) -> Void
        ) {
            self.rule = rule
            self.description = description
            isAuthoritys = authority
            self.passesOpenSSL = passesOpenSSL
            self.make = make
        }
    }

    /// A leaf below a forged authority below the root.
    private static func chain(_ pki: TestPKI, _ flaw: Flaw) throws -> [Data] {
        var authority = CertificateTemplate.authority()
        var leaf = CertificateTemplate.server()
        if flaw.isAuthoritys { flaw.make(&authority) } else { flaw.make(&leaf) }
        let issuer = try pki.forge(authority, byRoot: true)
        return [try pki.forge(leaf, by: issuer).der, issuer.der]
    }

    private static func verdict(_ pki: TestPKI, _ chain: [Data], _ profile: ChainProfile) async throws -> TrustRefusal?
    {
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root]), profile: profile)
        return await evaluator.evaluate(ServerTrust(host: "localhost", port: 443, presentedChain: chain)).refusal
    }

    @Test func flawlessCertificateIsAccepted() async throws {
        let pki = try TestPKI()
        let none = Flaw(.nonDER, "none") { _ in }
        #expect(try await Self.verdict(pki, Self.chain(pki, none), .strict) == nil)
    }

    @Test(arguments: StrictRuleFlaws.all)
    func flawsAreRefusedWithTheirOwnReason(_ flaw: Flaw) async throws {
        let pki = try TestPKI()
        let chain = try Self.chain(pki, flaw)
        let refusal = try await Self.verdict(pki, chain, .strict)
        #expect(refusal?.reason == flaw.rule.reason, "\(refusal?.description ?? "accepted")")
        #expect(refusal?.message.contains(flaw.rule.citation) ?? false)
        #expect(
            refusal?.certificate?.subject == (flaw.isAuthoritys ? "CN=Forged Authority" : refusal?.certificate?.subject)
        )
        guard flaw.passesOpenSSL else { return }
        // The lenient profile shows that OpenSSL accepts it; keys and digests at no security level.
        let lenient = ChainProfile.lenient.allowing(flaw.rule)
        let pass = try await Self.verdict(pki, chain, lenient)
        #expect(pass == nil, "\(pass?.description ?? "")")
    }

    @Test(arguments: StrictRuleFlaws.all.filter { $0.passesOpenSSL && $0.isAllowable })
    func flawsAreAcceptedWithAnExceptionForTheirRule(_ flaw: Flaw) async throws {
        let pki = try TestPKI()
        let refusal = try await Self.verdict(pki, Self.chain(pki, flaw), .strict.allowing(flaw.rule))
        #expect(refusal == nil, "\(refusal?.description ?? "")")
    }

    @Test func everyRuleOfTheProfileIsTested() {
        let below: Set<ChainRule> = [
            .flawedAnchor, .leafLifetime, .md5Signatures, .emptyIssuer, .emptySubject, .emptySubjectAlternativeName,
            .missingSubjectAlternativeName,
        ]
        let tested = Set(StrictRuleFlaws.all.map(\.rule)).union(below)
        #expect(ChainProfile.strict.rules.subtracting(tested).map(\.description).sorted() == [])
    }

    @Test func rulesHaveUniqueNamesAndCitations() {
        let names = ChainRule.allCases.map(\.description)
        #expect(Set(names).count == names.count)
        for rule in ChainRule.allCases {
            #expect(rule.reason.description == rule.description)
            #expect(rule.citation.contains("RFC ") || rule.citation.contains("Baseline Requirements"))
            #expect(rule.requirement.hasSuffix("."))
        }
        #expect(TrustRefusal.Reason.duplicateExtension == ChainRule.duplicateExtension.reason)
    }

    @Test func emptyIssuerIsRefused() async throws {
        let pki = try TestPKI()
        var authority = CertificateTemplate.authority()
        authority.subject = ASN1.name(nil)
        let issuer = try pki.forge(authority, byRoot: true)
        let chain = [try pki.forge(.server(), by: issuer).der, issuer.der]
        #expect(try await Self.verdict(pki, chain, .strict)?.reason == .emptyIssuer)
        #expect(try await Self.verdict(pki, chain, .strict.allowing(.emptyIssuer))?.reason == .emptySubject)
        #expect(try await Self.verdict(pki, chain, .strict.allowing(.emptyIssuer, .emptySubject)) == nil)
    }

    @Test func signatureWithMD5IsRefusedByEveryProfile() async throws {
        let pki = try TestPKI()
        var authority = CertificateTemplate.authority()
        authority.keyKind = .rsa2048
        let issuer = try pki.forge(authority, byRoot: true)
        var leaf = CertificateTemplate.server()
        leaf.digest = "MD5"
        let chain = [try pki.forge(leaf, by: issuer).der, issuer.der]
        #expect(try await Self.verdict(pki, chain, .strict)?.reason == .md5Signatures)
        #expect(try await Self.verdict(pki, chain, .strict.allowing(.sha1Signatures))?.reason == .md5Signatures)
        #expect(try await Self.verdict(pki, chain, .lenient.allowing(.sha1Signatures))?.reason == .md5Signatures)
    }

    @Test(arguments: [
        (ASN1.sequence(), ChainRule.emptySubjectAlternativeName), ([], .missingSubjectAlternativeName),
        (ASN1.sequence(ASN1.value(0x81, Array("a@example.com".utf8))), .missingSubjectAlternativeName),
    ])
    func nameRulesApplyWithoutHostValidation(_ names: [UInt8], _ rule: ChainRule) async throws {
        let pki = try TestPKI()
        var leaf = CertificateTemplate.server()
        leaf.set("2.5.29.17", names)
        let chain = [try pki.forge(leaf).der, pki.intermediate.derBytes]
        let evaluator = StandardTrustEvaluator.systemTrust(
            anchors: try .certificates([pki.root]), validatesHost: false, profile: .strict)
        let trust = ServerTrust(host: "localhost", port: 443, presentedChain: chain)
        #expect(await evaluator.evaluate(trust).refusal?.reason == rule.reason)
    }

    @Test func lifetimesAreLimitedIfConfigured() async throws {
        let pki = try TestPKI()
        let none = Flaw(.nonDER, "none") { _ in }
        let chain = try Self.chain(pki, none)
        var profile = ChainProfile.strict
        profile.maximumLeafLifetime = .seconds(398 * 86_400)
        #expect(try await Self.verdict(pki, chain, profile) == nil)
        profile.maximumLeafLifetime = .seconds(10 * 86_400)
        #expect(try await Self.verdict(pki, chain, profile)?.reason == .leafLifetime)
    }

    @Test func nonCriticalNameConstraintsApply() async throws {
        let pki = try TestPKI()
        let flaw = Flaw(.nameConstraintsNotCritical, "not critical", authority: true) {
            $0.set(
                "2.5.29.30", critical: false,
                ASN1.sequence(ASN1.value(0xA0, ASN1.sequence(ASN1.host("localhost")))))
        }
        let chain = try Self.chain(pki, flaw)
        #expect(try await Self.verdict(pki, chain, .strict) == nil)
        let refusal = try await Self.verdict(pki, chain, .strict.enforcing(.nameConstraintsNotCritical))
        #expect(refusal?.reason == .nameConstraintsNotCritical)
    }

    @Test func keyRequirementsAreEnforced() async throws {
        let pki = try TestPKI()
        var profile = ChainProfile.strict
        profile.keys.minimumRSABits = 3072
        let rsa = try pki.identity { $0.key = .rsa2048 }.chain.map(\.derBytes)
        #expect(try await Self.verdict(pki, rsa, profile)?.reason == .rsaKeySize)
        profile = .strict
        profile.keys.kinds = [.p256]
        let ed25519 = try pki.identity { $0.key = .ed25519 }.chain.map(\.derBytes)
        #expect(try await Self.verdict(pki, ed25519, profile)?.reason == .keyKind)
        profile = .strict
        profile.keys.signatures = [.ecdsaSHA384]
        #expect(try await Self.verdict(pki, ed25519, profile)?.reason == .signatureAlgorithm)
    }

    @Test func anchorsAreNotCheckedForFlaws() async throws {
        // A certificate as `openssl req -x509` makes it: an authority without a key usage, used by the server itself.
        var template = CertificateTemplate.server()
        template.remove("2.5.29.15")
        template.remove("2.5.29.37")
        template.set("2.5.29.19", critical: false, ASN1.sequence(ASN1.yes))
        let pki = try TestPKI()
        let own = try pki.forge(template)
        let evaluator = try StandardTrustEvaluator.certificatePins([own.certificate])
        let trust = ServerTrust(host: "localhost", port: 443, presentedChain: [own.der])
        #expect(await evaluator.evaluate(trust).refusal == nil)
    }
}
