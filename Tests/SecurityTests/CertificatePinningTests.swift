import LinnetSecurity
import LinnetTesting
import Testing

@Suite("Certificate pins", .timeLimit(.minutes(1)))
struct CertificatePinningTests {
    private let pki: TestPKI
    private let identity: TestPKI.Identity

    init() throws {
        pki = try TestPKI()
        identity = try pki.identity()
    }

    @Test(arguments: TestPKI.KeyKind.allCases)
    func pinnedSelfSignedCertificateIsAccepted(key: TestPKI.KeyKind) async throws {
        let identity = try TestPKI.selfSigned { $0.key = key }
        let trust = await (try StandardTrustEvaluator.certificatePins([identity.certificate])).trust(in: identity.chain)
        #expect(trust?.isPinned == true)
        #expect(trust?.chain == [identity.certificate.derBytes])
    }

    @Test func pinnedCertificateHasToBeCurrentAndMatchTheHost() async throws {
        let cases: [(TestPKI.Identity, String, TrustRefusal.Reason)] = [
            (try TestPKI.selfSigned { $0.validity = .expired }, "localhost", .expired),
            (try TestPKI.selfSigned { $0.validity = .notYetValid }, "localhost", .notYetValid),
            (try TestPKI.selfSigned(), "other.example", .hostnameMismatch),
            (try TestPKI.selfSigned { $0.isForClients = true }, "localhost", .invalidPurpose),
            (try pki.identity { $0.validity = .expired }, "localhost", .expired),
        ]
        for (identity, host, reason) in cases {
            let evaluator = try StandardTrustEvaluator.certificatePins([identity.certificate])
            let refusal = await evaluator.refusal(of: identity.chain, host: host)
            #expect(refusal?.reason == reason)
            #expect(refusal?.wantedPins == [identity.pin])
        }
    }

    @Test func anyCertificateOfTheChainCanBePinned() async throws {
        for pinned in [identity.certificate, pki.intermediate, pki.root] {
            let trust = await (try StandardTrustEvaluator.certificatePins([pinned])).trust(in: identity.chain)
            #expect(trust?.isPinned == true)
            #expect(trust?.chain.contains(pinned.derBytes) == true)
        }
    }

    @Test func oneMatchingCertificateIsEnough() async throws {
        let backup = try TestPKI.selfSigned().certificate
        #expect(
            await (try StandardTrustEvaluator.certificatePins([backup, identity.certificate])).refusal(
                of: identity.chain) == nil)
    }

    @Test func otherCertificateWithTheSameKeyIsRefused() async throws {
        let other = try TestPKI.selfSigned().certificate
        let evaluator = try StandardTrustEvaluator.certificatePins([other])
        #expect(await evaluator.refusal(of: identity.chain) != nil)
        #expect(await evaluator.refusal(of: identity.chain + [other])?.isRefused == true)
        #expect(await evaluator.refusal(of: try TestPKI.selfSigned().chain)?.reason == .selfSigned)
    }

    @Test func withAnchorsThePinIsComparedWithTheVerifiedChain() async throws {
        let anchors = try TrustAnchors.certificates([pki.root])
        for pinned in [identity.certificate, pki.intermediate, pki.root] {
            let evaluator = try StandardTrustEvaluator.certificatePins([pinned], anchors: anchors)
            #expect(await evaluator.refusal(of: identity.chain) == nil)
        }
        let bystander = try pki.identity().certificate
        let evaluator = try StandardTrustEvaluator.certificatePins([bystander], anchors: anchors)
        let refusal = await evaluator.refusal(of: identity.chain + [bystander])
        #expect(refusal?.reason == .pinMismatch)
        #expect(refusal?.wantedPins == [bystander.publicKeyPin])
        let own = try TestPKI.selfSigned()
        #expect(
            await (try StandardTrustEvaluator.certificatePins([own.certificate], anchors: anchors)).refusal(
                of: own.chain) != nil)
    }

    @Test func emptyCertificateListIsAnError() throws {
        let error = #expect(throws: SecurityError.self) { try StandardTrustEvaluator.certificatePins([]) }
        #expect(error?.code == .noPins)
        let anchored = #expect(throws: SecurityError.self) {
            try StandardTrustEvaluator.certificatePins([], anchors: .system)
        }
        #expect(anchored?.code == .noPins)
        let policy = #expect(throws: SecurityError.self) { try SecurityPolicy.certificatePins([]) }
        #expect(policy?.code == .noPins)
    }
}

extension TrustRefusal {
    fileprivate var isRefused: Bool { reason == .unknownAuthority || reason == .pinMismatch }
}
