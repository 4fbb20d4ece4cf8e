import LinnetSecurity
import LinnetTesting
import Testing

@Suite("Public-key pins", .timeLimit(.minutes(1)))
struct PublicKeyPinningTests {
    private let pki: TestPKI
    private let identity: TestPKI.Identity
    private let anchors: TrustAnchors

    init() throws {
        pki = try TestPKI()
        identity = try pki.identity()
        anchors = try .certificates([pki.root])
    }

    private func pinning(_ pins: PublicKeyPin...) throws -> StandardTrustEvaluator {
        try StandardTrustEvaluator.pins(pins, anchors: anchors)
    }

    @Test func anyKeyOfTheVerifiedChainMatches() async throws {
        for pin in [identity.pin, pki.intermediate.publicKeyPin, pki.root.publicKeyPin] {
            let trust = await (try pinning(pin)).trust(in: identity.chain)
            #expect(trust?.isPinned == true)
            #expect(trust?.pins == (identity.chain + [pki.root]).map(\.publicKeyPin))
        }
    }

    /// Keys of kinds that browsers do not take, too: a private authority may issue for them.
    @Test(arguments: TestPKI.KeyKind.allCases + [.ed448, .rsaPSS2048])
    func everyKindOfKeyCanBePinned(kind: TestPKI.KeyKind) async throws {
        let identity = try pki.identity { $0.key = kind }
        let other = try pki.identity { $0.key = kind }
        #expect(await (try pinning(identity.pin)).trust(in: identity.chain)?.isPinned == true)
        #expect(await (try pinning(identity.pin)).refusal(of: other.chain)?.reason == .pinMismatch)
    }

    @Test func oneMatchingPinIsEnough() async throws {
        let backup = try TestPKI.selfSigned().pin
        #expect(await (try pinning(backup, identity.pin)).refusal(of: identity.chain) == nil)
        #expect(await (try pinning(identity.pin, backup)).refusal(of: identity.chain) == nil)
    }

    @Test func mismatchListsTheSeenAndWantedPins() async throws {
        let (first, second) = (try TestPKI.selfSigned().pin, try TestPKI.selfSigned().pin)
        let refusal = try #require(await (try pinning(first, second)).refusal(of: identity.chain))
        #expect(refusal.reason == .pinMismatch)
        #expect(refusal.seenPins == (identity.chain + [pki.root]).map(\.publicKeyPin))
        #expect(refusal.wantedPins == [first, second])
        #expect(refusal.certificate == identity.certificate.summary)
        #expect(refusal.verifyCode == nil)
        for pin in refusal.seenPins + refusal.wantedPins { #expect(refusal.message.contains(pin.description)) }
    }

    @Test func appendedPinnedCertificateHasNoEffect() async throws {
        let bystander = try pki.identity()
        let evaluator = try pinning(bystander.pin)
        #expect(await evaluator.refusal(of: identity.chain + [bystander.certificate])?.reason == .pinMismatch)
        #expect(
            await evaluator.refusal(of: [identity.certificate, bystander.certificate, pki.intermediate])?.reason
                == .pinMismatch)
        let foreign = try TestPKI()
        #expect(
            await (try pinning(foreign.root.publicKeyPin)).refusal(of: identity.chain + [foreign.root])?.reason
                == .pinMismatch)
    }

    @Test func pinDoesNotMakeAnInvalidChainTrusted() async throws {
        let cases: [(TestPKI.Identity, String, TrustRefusal.Reason)] = [
            (try pki.identity { $0.validity = .expired }, "localhost", .expired),
            (try pki.identity { $0.validity = .notYetValid }, "localhost", .notYetValid),
            (try pki.identity { $0.isForClients = true }, "localhost", .invalidPurpose),
            (identity, "other.example", .hostnameMismatch),
            (try TestPKI().identity(), "localhost", .unknownAuthority),
            (try TestPKI.selfSigned(), "localhost", .selfSigned),
        ]
        for (identity, host, reason) in cases {
            let refusal = await (try pinning(identity.pin)).refusal(of: identity.chain, host: host)
            #expect(refusal?.reason == reason)
            #expect(refusal?.seenPins.first == identity.pin)
            #expect(refusal?.wantedPins == [identity.pin])
        }
    }

    @Test func hostValidationCanBeDisabled() async throws {
        let evaluator = try StandardTrustEvaluator.pins([identity.pin], anchors: anchors, validatesHost: false)
        #expect(await evaluator.refusal(of: identity.chain, host: "other.example") == nil)
    }

    @Test func defaultAnchorsAreTheSystems() async throws {
        let evaluator = try StandardTrustEvaluator.pins([identity.pin])
        #expect(await evaluator.refusal(of: identity.chain) != nil)
    }

    @Test func emptyPinListIsAnError() throws {
        let error = #expect(throws: SecurityError.self) { try StandardTrustEvaluator.pins([]) }
        #expect(error?.code == .noPins)
        let policy = #expect(throws: SecurityError.self) { try SecurityPolicy.publicKeyPins([]) }
        #expect(policy?.code == .noPins)
    }
}
