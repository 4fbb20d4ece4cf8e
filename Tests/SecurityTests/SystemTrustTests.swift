import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Testing

@Suite("System trust", .timeLimit(.minutes(1)))
struct SystemTrustTests {
    private let pki: TestPKI
    private let evaluator: StandardTrustEvaluator

    init() throws {
        pki = try TestPKI()
        evaluator = StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root]))
    }

    @Test(arguments: TestPKI.KeyKind.allCases)
    func chainToAnAnchorIsAccepted(key: TestPKI.KeyKind) async throws {
        let identity = try pki.identity { $0.key = key }
        let trust = try #require(await evaluator.trust(in: identity.chain))
        #expect(trust.chain == (identity.chain + [pki.root]).map(\.derBytes))
        #expect(trust.pins == (identity.chain + [pki.root]).map(\.publicKeyPin))
        #expect(!trust.isPinned)
    }

    @Test func orderOfIssuersAndExtraCertificatesAreIrrelevant() async throws {
        let identity = try pki.identity()
        let stranger = try TestPKI().root
        let leaf = identity.certificate
        for presented in [[leaf, pki.root, pki.intermediate], [leaf, stranger, pki.intermediate, leaf]] {
            let trust = await evaluator.trust(in: presented)
            #expect(trust?.chain == [leaf, pki.intermediate, pki.root].map(\.derBytes))
        }
    }

    @Test func chainWithoutIntermediateIsAccepted() async throws {
        let identity = try pki.identity { $0.hasIntermediate = false }
        #expect(await evaluator.trust(in: identity.chain)?.chain.count == 2)
    }

    @Test func intermediateCanBeTheAnchor() async throws {
        let evaluator = StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.intermediate]))
        let identity = try pki.identity()
        #expect(await evaluator.trust(in: [identity.certificate])?.chain.count == 2)
        #expect(await evaluator.refusal(of: try TestPKI().identity().chain)?.reason == .unknownAuthority)
    }

    // MARK: Chains that end nowhere

    @Test func unknownAuthorityIsRefused() async throws {
        let identity = try TestPKI().identity()
        let refusal = try #require(await evaluator.refusal(of: identity.chain))
        #expect(refusal.reason == .unknownAuthority)
        #expect(refusal.seenPins == identity.chain.map(\.publicKeyPin))
        #expect(refusal.wantedPins.isEmpty)
        #expect(refusal.verifyCode != nil)
        #expect(refusal.host == "localhost" && refusal.port == 443)
    }

    @Test func presentedRootIsNotAnAnchor() async throws {
        let other = try TestPKI()
        let refusal = await evaluator.refusal(of: try other.identity().chain + [other.root])
        #expect(refusal?.reason == .unknownAuthority)
    }

    @Test func otherAuthorityWithTheSameNameIsRefused() async throws {
        let other = try TestPKI()
        #expect(other.root.subject == pki.root.subject)
        #expect(await evaluator.refusal(of: try other.identity().chain + [pki.root]) != nil)
    }

    @Test func selfSignedCertificateIsRefused() async throws {
        let identity = try TestPKI.selfSigned()
        let refusal = await evaluator.refusal(of: identity.chain)
        #expect(refusal?.reason == .selfSigned)
        #expect(refusal?.certificate == identity.certificate.summary)
    }

    @Test func missingIntermediateIsRefused() async throws {
        let identity = try pki.identity()
        #expect(await evaluator.refusal(of: [identity.certificate])?.reason == .unknownAuthority)
        #expect(await evaluator.refusal(of: [identity.certificate, pki.root])?.reason == .unknownAuthority)
    }

    @Test func leafHasToComeFirst() async throws {
        let identity = try pki.identity()
        #expect(await evaluator.refusal(of: [pki.intermediate, identity.certificate]) != nil)
    }

    @Test func leafIsNotAnAuthority() async throws {
        let leaf = try pki.identity().certificate
        let refusal = await StandardTrustEvaluator.systemTrust(anchors: try .certificates([leaf])).refusal(
            of: try pki.identity().chain)
        #expect(refusal?.reason == .unknownAuthority)
    }

    // MARK: Time

    @Test func expiredCertificateIsRefused() async throws {
        let identity = try pki.identity { $0.validity = .expired }
        let refusal = await evaluator.refusal(of: identity.chain)
        #expect(refusal?.reason == .expired)
        #expect(refusal?.certificate?.notAfter == identity.certificate.notAfter)
    }

    @Test func certificateThatIsNotYetValidIsRefused() async throws {
        let identity = try pki.identity { $0.validity = .notYetValid }
        #expect(await evaluator.refusal(of: identity.chain)?.reason == .notYetValid)
    }

    @Test func timeOfTheInputIsUsed() async throws {
        let chain = try pki.identity().chain
        #expect(await evaluator.refusal(of: chain, time: .days(20)) == nil)
        #expect(await evaluator.refusal(of: chain, time: .days(31))?.reason == .expired)
        #expect(await evaluator.refusal(of: chain, time: .days(-2))?.reason == .notYetValid)
        let expired = try pki.identity { $0.validity = .expired }
        #expect(await evaluator.refusal(of: expired.chain, time: .days(-1.5))?.reason == .notYetValid)
    }

    @Test func certificateIsValidInItsLastSecond() async throws {
        let leaf = try pki.identity { $0.hasIntermediate = false }.certificate
        #expect(await evaluator.refusal(of: [leaf], time: leaf.notAfter.addingTimeInterval(-1)) == nil)
        #expect(await evaluator.refusal(of: [leaf], time: leaf.notAfter.addingTimeInterval(2))?.reason == .expired)
        #expect(
            await evaluator.refusal(of: [leaf], time: leaf.notBefore.addingTimeInterval(-2))?.reason == .notYetValid)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300])
    func nonFiniteTimesAreRefused(seconds: Double) async throws {
        let time = Date(timeIntervalSinceReferenceDate: seconds)
        #expect(await evaluator.refusal(of: try pki.identity().chain, time: time) != nil)
    }

    @Test(arguments: [Date.distantPast, .distantFuture])
    func distantTimesAreRefused(time: Date) async throws {
        #expect(await evaluator.refusal(of: try pki.identity().chain, time: time) != nil)
    }

    // MARK: Purpose

    @Test func clientCertificateIsRefused() async throws {
        let identity = try pki.identity { $0.isForClients = true }
        #expect(await evaluator.refusal(of: identity.chain)?.reason == .invalidPurpose)
    }

    // MARK: Invalid chains

    @Test func emptyChainIsRefused() async {
        #expect(await evaluator.refusal(of: [])?.reason == .noCertificate)
    }

    @Test func bytesThatAreNotACertificateAreRefused() async throws {
        let chain = try pki.identity().chain.map(\.derBytes)
        let cases: [[Data]] = [
            [Data()], [Data("certificate".utf8)], [chain[0] + Data([0])], [chain[0].dropLast()], chain + [Data()],
            [chain[0], Data([0x30, 0x00]), chain[1]],
        ]
        for presented in cases {
            let decision = await evaluator.evaluate(
                ServerTrust(host: "localhost", port: 443, presentedChain: presented))
            #expect(decision.refusal?.reason == .malformedCertificate)
            #expect(!decision.isAccepted)
        }
    }

    @Test func numberOfCertificatesIsLimited() async throws {
        let chain = try pki.identity().chain
        let long = chain + Array(repeating: pki.root, count: 30)
        #expect(await evaluator.refusal(of: long) == nil)
        #expect(await evaluator.refusal(of: long + [pki.root])?.reason == .malformedCertificate)
        let large = ServerTrust(
            host: "localhost", port: 443, presentedChain: [chain[0].derBytes, Data(count: 256 * 1024)])
        #expect(await evaluator.evaluate(large).refusal?.reason == .malformedCertificate)
    }
}
