import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// If OpenSSL's path is refused, other paths are tried.
@Suite("Other paths to an anchor", .timeLimit(.minutes(2)))
struct OtherPathTests {
    private let pki: TestPKI
    private let root: ForgedCertificate
    private let other: ForgedCertificate
    /// An authority with one key, certified by two roots.
    private let authority: ForgedCertificate

    init() throws {
        pki = try TestPKI()
        root = try TestPKI.forgeRoot(.authority("Root"))
        other = try TestPKI.forgeRoot(.authority("Other Root"))
        authority = try pki.forge(.authority("Authority"), by: root)
    }

    private func cross(
        _ change: (inout CertificateTemplate) -> Void = { _ in }, by issuer: ForgedCertificate
    ) throws -> ForgedCertificate {
        var template = CertificateTemplate.authority("Authority")
        change(&template)
        return try TestPKI.forge(template, withKeyOf: authority, by: issuer)
    }

    private func decision(
        _ presented: [ForgedCertificate], anchors: [ForgedCertificate], profile: ChainProfile = .default
    ) async throws -> TrustDecision {
        let evaluator = StandardTrustEvaluator.systemTrust(
            anchors: try .certificates(anchors.map { try $0.certificate }), profile: profile)
        return await evaluator.evaluate(
            ServerTrust(host: "localhost", port: 443, presentedChain: presented.map(\.der)))
    }

    /// The accepted chain for both orders of two authorities; empty if it is refused.
    private func chains(
        _ good: ForgedCertificate, _ bad: ForgedCertificate, anchors: [ForgedCertificate],
        profile: ChainProfile = .default
    ) async throws -> [[Data]] {
        let leaf = try pki.forge(.server(), by: authority)
        var chains: [[Data]] = []
        for presented in [[leaf, good, bad], [leaf, bad, good]] {
            switch try await decision(presented, anchors: anchors, profile: profile) {
            case .accepted(let verified): chains.append(verified.chain)
            case .refused(let refusal): Issue.record("\(refusal.message)")
            }
        }
        #expect(chains.allSatisfy { $0.count == 3 && $0[1] == good.der })
        return chains
    }

    private static let constraint = ASN1.sequence(ASN1.value(0xA1, ASN1.sequence(ASN1.host("localhost"))))

    @Test func otherRootIsUsedWhenConstraintsForbidTheFirst() async throws {
        var template = CertificateTemplate.authority("Constrained Root")
        template.set("2.5.29.30", critical: true, Self.constraint)
        let constrained = try TestPKI.forgeRoot(template)
        let bad = try cross(by: constrained)
        for anchors in [[root, constrained], [constrained, root]] {
            #expect(try await chains(authority, bad, anchors: anchors).count == 2)
        }
    }

    @Test func otherAuthorityIsUsedWhenConstraintsForbidTheFirst() async throws {
        let bad = try cross({ $0.set("2.5.29.30", critical: true, Self.constraint) }, by: root)
        #expect(try await chains(authority, bad, anchors: [root]).count == 2)
    }

    @Test func otherPathIsUsedWhenTheFirstIsTooLong() async throws {
        var template = CertificateTemplate.authority("Short Root")
        template.pathLength(0)
        let bad = try cross(by: TestPKI.forgeRoot(template))
        let short = try TestPKI.forgeRoot(template)
        let crossed = try cross(by: short)
        #expect(try await chains(authority, crossed, anchors: [short, root]).count == 2)
        #expect(try await chains(authority, bad, anchors: [root]).count == 2)
    }

    @Test func otherPathIsUsedWhenTheFirstHasExpired() async throws {
        let bad = try cross({ $0.notAfter = CertificateTemplate.time(daysFromNow: -0.5) }, by: root)
        #expect(try await chains(authority, bad, anchors: [root]).count == 2)
    }

    @Test func otherPathIsUsedWhenTheFirstIsForClients() async throws {
        let bad = try cross({ $0.purposes("1.3.6.1.5.5.7.3.2") }, by: root)
        #expect(try await chains(authority, bad, anchors: [root]).count == 2)
    }

    @Test func otherPathIsUsedWhenTheFirstHasNoAnchor() async throws {
        let unknown = try TestPKI.forgeRoot(.authority("Unknown Root"))
        #expect(try await chains(authority, cross(by: unknown), anchors: [root]).count == 2)
    }

    @Test func otherPathIsUsedWhenTheFirstViolatesARule() async throws {
        let bad = try cross({ $0.set("2.5.29.15", critical: false) }, by: other)
        #expect(try await chains(authority, bad, anchors: [root, other], profile: .strict).count == 2)
        #expect(try await chains(authority, bad, anchors: [other, root], profile: .strict).count == 2)
    }

    @Test func otherPathIsCachedOnlyForItsProfile() async throws {
        let bad = try cross({ $0.set("2.5.29.15", critical: false) }, by: root)
        let leaf = try pki.forge(.server(), by: authority)
        let anchors = try TrustAnchors.certificates([root.certificate])
        let trust = ServerTrust(host: "localhost", port: 443, presentedChain: [leaf, bad, authority].map(\.der))
        var asked: [[Data]] = []
        for profile in [ChainProfile.default, .strict, .default, .strict] {
            guard
                case .accepted(let verified) = await StandardTrustEvaluator.systemTrust(
                    anchors: anchors, profile: profile
                ).evaluate(
                    trust)
            else {
                Issue.record("refused")
                return
            }
            asked.append(verified.chain)
        }
        #expect(asked[0] == asked[2])
        #expect(asked[1] == asked[3])
        #expect(asked[1][1] == authority.der)
    }

    /// An authority that is issued to its issuer's own name does not count (RFC 5280, 6.1.4 (l)).
    @Test(arguments: [(UInt8(1), true), (0, false)])
    func selfIssuedAuthorityDoesNotCountOnAnotherPath(length: UInt8, isAccepted: Bool) async throws {
        var template = CertificateTemplate.authority("Short Root")
        template.pathLength(length)
        let short = try TestPKI.forgeRoot(template)
        let good = try pki.forge(.authority("Authority"), by: short)
        // Two keys of the name; the first issues the second.
        let second = try pki.forge(.authority("Authority"), by: good)
        let leaf = try pki.forge(.server(), by: second)
        let bad = try TestPKI.forge(
            .authority("Authority"), withKeyOf: second, by: TestPKI.forgeRoot(.authority("Gone")))
        let worse = try TestPKI.forge(
            .authority("Authority"), withKeyOf: good, by: TestPKI.forgeRoot(.authority("Lost")))
        for presented in [[leaf, second, good], [leaf, bad, worse, second, good], [leaf, second, worse, bad, good]] {
            let decision = try await decision(presented, anchors: [short])
            #expect(decision.isAccepted == isAccepted, "\(decision.refusal?.message ?? "accepted")")
        }
    }

    // MARK: The reason of the refusal

    /// The reason and the certificate's subject, for both orders of two authorities.
    private func reasons(
        _ first: ForgedCertificate, _ second: ForgedCertificate, anchors: [ForgedCertificate],
        profile: ChainProfile = .default
    ) async throws -> [TrustRefusal] {
        let leaf = try pki.forge(.server(), by: authority)
        var refusals: [TrustRefusal] = []
        for presented in [[leaf, first, second], [leaf, second, first]] {
            refusals.append(try #require(try await decision(presented, anchors: anchors, profile: profile).refusal))
        }
        return refusals
    }

    @Test func pathThatHasOnlyExpiredIsTheReason() async throws {
        let rule = try cross({ $0.set("2.5.29.15", critical: false) }, by: other)
        for (days, reason) in [(-0.5, TrustRefusal.Reason.expired), (0.5, .notYetValid)] {
            let late = try cross(
                {
                    $0.notBefore = CertificateTemplate.time(daysFromNow: reason == .expired ? -2 : days)
                    $0.notAfter = CertificateTemplate.time(daysFromNow: reason == .expired ? days : 2)
                }, by: root)
            for anchors in [[root, other], [other, root]] {
                for refusal in try await reasons(rule, late, anchors: anchors, profile: .strict) {
                    #expect(refusal.reason == reason)
                    #expect(refusal.certificate?.issuer == "CN=Root")
                    #expect(refusal.verifyCode != nil)
                }
            }
        }
    }

    /// Renewing a certificate would not mend a path that also violates a rule, or that has no anchor.
    @Test func pathThatHasNotOnlyExpiredIsNotTheReason() async throws {
        let rule = try cross({ $0.set("2.5.29.15", critical: false) }, by: root)
        let late = try cross(
            {
                $0.set("2.5.29.15", critical: false)
                $0.notAfter = CertificateTemplate.time(daysFromNow: -0.5)
            }, by: other)
        let unknown = try cross(
            { $0.notAfter = CertificateTemplate.time(daysFromNow: -0.5) }, by: TestPKI.forgeRoot(.authority("Unknown")))
        for bad in [late, unknown] {
            // A path that OpenSSL ends at an expired certificate is refused for that.
            let leaf = try pki.forge(.server(), by: authority)
            let refusal = try await decision([leaf, rule, bad], anchors: [root, other], profile: .strict).refusal
            #expect(refusal?.reason == .keyUsageNotCritical)
        }
    }

    /// Renewing the root would not mend its path, whose authority also violates a rule.
    @Test func pathThatEndsAtAnExpiredRootSaysMoreThanOneThatIsRefusedForItsNames() async throws {
        var template = CertificateTemplate.authority("Old Root")
        template.notAfter = CertificateTemplate.time(daysFromNow: -0.5)
        let old = try TestPKI.forgeRoot(template)
        let late = try cross({ $0.set("2.5.29.15", critical: false) }, by: old)
        let names = try cross({ $0.set("2.5.29.30", critical: true, Self.constraint) }, by: other)
        let leaf = try pki.forge(.server(), by: authority)
        let refusal = try await decision([leaf, late, names], anchors: [old, other], profile: .strict).refusal
        #expect(refusal?.reason == .expired)
    }

    @Test func pathWithoutAnAnchorSaysLessThanOneThatIsRefusedForItsNames() async throws {
        let unknown = try cross(by: TestPKI.forgeRoot(.authority("Unknown")))
        let names = try cross({ $0.set("2.5.29.30", critical: true, Self.constraint) }, by: other)
        for refusal in try await reasons(unknown, names, anchors: [other]) {
            #expect(refusal.reason == .nameNotPermitted)
        }
    }

    @Test func pathThatIsRefusedForItsNamesSaysMoreThanOneThatViolatesARule() async throws {
        let rule = try cross({ $0.set("2.5.29.15", critical: false) }, by: other)
        let names = try cross({ $0.set("2.5.29.30", critical: true, Self.constraint) }, by: root)
        for anchors in [[root, other], [other, root]] {
            for refusal in try await reasons(rule, names, anchors: anchors, profile: .strict) {
                #expect(refusal.reason == .nameNotPermitted)
            }
        }
    }

    @Test func pathThatIsRefusedForItsNamesSaysMoreThanOneThatViolatesARuleForEveryAuthority() async throws {
        let rule = try cross({ $0.set("2.5.29.15", []) }, by: other)
        let names = try cross({ $0.set("2.5.29.30", critical: true, Self.constraint) }, by: root)
        for anchors in [[root, other], [other, root]] {
            for refusal in try await reasons(rule, names, anchors: anchors) {
                #expect(refusal.reason == .nameNotPermitted)
            }
        }
    }

    @Test func ruleForEveryAuthoritySaysMoreThanOneForPublicAuthorities() async throws {
        let rule = try cross({ $0.set("2.5.29.15", critical: false) }, by: other)
        var template = CertificateTemplate.authority("Odd Root")
        template.set("2.5.29.15", ASN1.value(0x23, ASN1.bitString([0x06], unused: 1)))
        let odd = try TestPKI.forgeRoot(template)
        let bad = try cross(by: odd)
        for anchors in [[odd, other], [other, odd]] {
            for refusal in try await reasons(rule, bad, anchors: anchors, profile: .strict) {
                #expect(refusal.reason == .malformedExtension)
            }
        }
    }

    @Test func firstRefusalIsReportedWhenNoPathIsValid() async throws {
        let (bad, worse) = (
            try cross({ $0.set("2.5.29.30", critical: true, Self.constraint) }, by: root),
            try cross({ $0.set("2.5.29.30", critical: true, Self.constraint) }, by: other)
        )
        let leaf = try pki.forge(.server(), by: authority)
        let decision = try await decision([leaf, bad, worse], anchors: [root, other])
        #expect(decision.refusal?.reason == .nameNotPermitted)
    }

    @Test func everyCertificateIsValidInItsLastSecond() async throws {
        let (end, now) = (ASN1.utcTime("250615150640Z"), Date(timeIntervalSince1970: 1_750_000_000))
        var (anchor, server) = (CertificateTemplate.authority("Root"), CertificateTemplate.server())
        (anchor.notBefore, anchor.notAfter, server.notBefore, server.notAfter) = (end, end, end, end)
        let issuer = try TestPKI.forgeRoot(anchor)
        let leaf = try pki.forge(server, by: issuer)
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try .certificates([issuer.certificate]))
        let trust = ServerTrust(host: "localhost", port: 443, presentedChain: [leaf.der], time: now)
        for (offset, reason) in [(0, nil), (0.9, nil), (1, .expired), (-1, .notYetValid)]
            as [(Double, TrustRefusal.Reason?)]
        {
            var trust = trust
            trust.time = now.addingTimeInterval(offset)
            #expect(await evaluator.evaluate(trust).refusal?.reason == reason, "\(offset)")
        }
    }

    // MARK: Work

    /// Thirty authorities with the same name and different keys. All seem to have issued each other, and none is an
    /// anchor.
    @Test func workForCrossSignedAuthoritiesIsBounded() async throws {
        var ring: [ForgedCertificate] = []
        for number in 0..<30 {
            var template = CertificateTemplate.authority("Ring \(number % 3)")
            template.set("2.5.29.35", [])
            ring.append(try pki.forge(template, by: ring.last ?? authority))
        }
        let leaf = try pki.forge(.server(), by: ring[29])
        let start = ContinuousClock.now
        let decision = try await decision([leaf] + ring.reversed(), anchors: [root], profile: .lenient)
        let took = ContinuousClock.now - start
        print("30 authorities that may have signed each other: \(took)")
        #expect(decision.refusal?.reason != nil)
        #expect(took < .seconds(5))
    }

    @Test func searchExaminesABoundedNumberOfIssuers() throws {
        var ring: [ForgedCertificate] = []
        for number in 0..<30 {
            var template = CertificateTemplate.authority("Ring \(number % 2)")
            template.set("2.5.29.35", [])
            ring.append(try pki.forge(template, by: ring.last ?? authority))
        }
        let leaf = try pki.forge(.server(), by: ring[29])
        let handles = try ([leaf] + ring.reversed()).map { try $0.certificate.handle }
        var asked = 0
        var search = PathSearch(
            presented: handles, store: try TrustAnchors.certificates([root.certificate]).store(),
            allowsPartialChains: true, maximumDepth: 10
        ) { _, _ in
            asked += 1
            return true
        }
        let found: Bool? = search.first { _ in true }
        #expect(found == nil)
        // Each issuer is examined at most twice: as an anchor and as an authority.
        #expect(asked <= 2 * ChainLimits.pathSteps + 2)
        #expect(asked > 10)
    }
}
