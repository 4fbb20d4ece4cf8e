import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

/// The validity of decisions.
@Suite("Validity of decisions", .timeLimit(.minutes(1)))
struct VerdictValidityTests {
    /// Accepts any chain until a date.
    private struct Until: TrustEvaluator {
        let date: Date?

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            .accepted(VerifiedTrust(chain: trust.presentedChain, pins: [], isPinned: false, validUntil: date))
        }
    }

    private func validUntil(_ evaluator: any TrustEvaluator, _ chain: [X509Certificate] = []) async -> Date? {
        guard case .accepted(let trust) = await evaluator.evaluate(ServerTrust(chain)) else { return nil }
        return trust.validUntil
    }

    @Test func decisionIsValidUntilTheFirstCertificateExpires() async throws {
        let pki = try TestPKI()
        let anchors = try TrustAnchors.certificates([pki.root])
        let shortLived = try pki.identity { $0.validity = .init(from: .seconds(-60), to: .seconds(600)) }
        let longLived = try pki.identity { $0.validity = .init(from: .seconds(-60), to: .seconds(400 * 86_400)) }
        for identity in [shortLived, longLived] {
            let ends = [identity.certificate, pki.intermediate, pki.root].map(\.notAfter)
            let evaluators: [any TrustEvaluator] = [
                StandardTrustEvaluator.systemTrust(anchors: anchors),
                try StandardTrustEvaluator.pins([identity.pin], anchors: anchors),
                try StandardTrustEvaluator.certificatePins([identity.certificate], anchors: anchors),
            ]
            for evaluator in evaluators {
                #expect(await validUntil(evaluator, identity.chain) == ends.min())
            }
        }
        #expect(shortLived.certificate.notAfter < pki.intermediate.notAfter)
        #expect(longLived.certificate.notAfter > pki.intermediate.notAfter)
    }

    /// A list and a staple. Either one ends first, and both end before the certificates.
    @Test(arguments: [(3600, 7200), (7200, 3600)])
    func decisionIsValidUntilTheFirstRevocationAnswerExpires(list: Int, staple: Int) async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        func period(_ seconds: Int) -> TestPKI.Validity { .init(from: .seconds(-60), to: .seconds(seconds)) }
        var profile = ChainProfile.default
        profile.revocation.clockSkew = .zero
        profile.revocation.lists = [
            try RevocationList(der: pki.revocationList(revoking: [], validity: period(list))),
            try RevocationList(der: pki.revocationList(revoking: [], by: .root, validity: period(9999))),
        ]
        var trust = ServerTrust(identity.chain)
        trust.stapledOCSPResponse = try pki.ocspResponse(about: identity, validity: period(staple))
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors, profile: profile)
        let start = Date()
        guard case .accepted(let verified) = await evaluator.evaluate(trust) else {
            Issue.record("refused")
            return
        }
        let until = try #require(verified.validUntil)
        if list < staple {
            #expect(until == profile.revocation.lists[0].nextUpdate)
        } else {
            #expect(until < profile.revocation.lists[0].nextUpdate)
            #expect(until <= start.addingTimeInterval(3600))
        }
    }

    @Test func acceptingAnyCertificateNeverExpires() async {
        #expect(await validUntil(StandardTrustEvaluator.insecureAcceptAnyCertificate) == .distantFuture)
    }

    @Test func customEvaluatorsHaveNoValidityByDefault() async {
        #expect(VerifiedTrust(chain: [], pins: [], isPinned: false).validUntil == nil)
        #expect(await validUntil(Until(date: nil)) == nil)
    }

    private static let ends: [([Double?], Double?)] = [
        ([1, 2, 3], 1), ([3, 2, 1], 1), ([2, 1, 2], 1), ([1, nil], nil), ([nil, 1, 1], nil),
    ]

    @Test(arguments: ends)
    func combinedDecisionIsValidUntilTheFirstOneExpires(ends: [Double?], end: Double?) async {
        let all = ends.map { Until(date: $0.map { Date(timeIntervalSince1970: $0) }) }
        let evaluator = all.dropFirst().reduce(StandardTrustEvaluator.allOf(all[0])) {
            StandardTrustEvaluator.allOf($0, $1)
        }
        #expect(await validUntil(evaluator) == end.map { Date(timeIntervalSince1970: $0) })
        let (first, second, rest) = (all[0], all[1], all.last ?? all[0])
        #expect(
            await validUntil(StandardTrustEvaluator.allOf(first, second, rest))
                == end.map { Date(timeIntervalSince1970: $0) })
    }

    @Test func changedPolicyHasANewIdentity() {
        let policy = SecurityPolicy.everyHost(.refuse)
        #expect(policy.allowsSessionResumption)
        var same = policy
        same.allowsSessionResumption = true
        #expect(same.identity == policy.identity)
        var other = policy
        other.allowsSessionResumption = false
        #expect(other.identity != policy.identity)
    }
}
