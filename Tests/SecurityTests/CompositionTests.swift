import FoundationEssentials
import LinnetSecurity
import LinnetTesting
import Synchronization
import Testing

@Suite("Composition of evaluators", .timeLimit(.minutes(5)))
struct CompositionTests {
    /// An evaluator that suspends before it answers.
    private struct Suspending: TrustEvaluator {
        let answer: TrustDecision

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            await Task { await Task.yield() }.value
            return answer
        }
    }

    private let pki: TestPKI
    private let identity: TestPKI.Identity
    private let stranger: PublicKeyPin

    init() throws {
        pki = try TestPKI()
        identity = try pki.identity()
        stranger = try TestPKI.selfSigned().pin
    }

    private func pinning(_ pins: PublicKeyPin..., position: PinSet.Position = .anyInVerifiedChain) throws
        -> StandardTrustEvaluator
    {
        try StandardTrustEvaluator.pins(pins, anchors: pki.anchors, position: position)
    }

    // MARK: Report only

    @Test func anObservedEvaluatorThatAwaitsAStapleIsAskedAgain() async throws {
        var waiting = VerifiedTrust(chain: [], pins: [], isPinned: false)
        waiting.awaitsStaple = true
        let evaluator = StandardTrustEvaluator.reportOnly(
            Suspending(answer: .accepted(waiting)), enforcing: try pinning(identity.pin))
        let verified = await evaluator.trust(in: identity.chain)
        #expect(verified?.isPinned == true && verified?.awaitsStaple == true)
    }

    // MARK: Any of

    @Test func oneAcceptingEvaluatorIsEnough() async throws {
        let evaluator = StandardTrustEvaluator.anyOf(try pinning(stranger), try pinning(identity.pin), .refuse)
        let verified = await evaluator.trust(in: identity.chain)
        #expect(verified?.isPinned == true)
        #expect(verified?.chain.last == pki.root.derBytes)
    }

    @Test func refusalOfAnyOfHasThePinsOfAllMembers() async throws {
        let other = try TestPKI.selfSigned().pin
        let evaluator = StandardTrustEvaluator.anyOf(try pinning(stranger), try pinning(other), .refuse)
        let refusal = await evaluator.refusal(of: identity.chain)
        #expect(refusal?.reason == .pinMismatch)
        #expect(refusal?.wantedPins == [stranger, other])
        #expect(refusal?.message.hasSuffix("The other evaluators refuse it, too: pinMismatch, hostRefused.") == true)
        let alone = await StandardTrustEvaluator.anyOf(.refuse).refusal(of: identity.chain)
        #expect(alone?.message == "localhost: the policy refuses this host.")
    }

    @Test func anyOfPinsIfEveryMemberPins() throws {
        #expect(StandardTrustEvaluator.anyOf(try pinning(stranger), try pinning(identity.pin)).isPinning)
        #expect(!StandardTrustEvaluator.anyOf(try pinning(stranger), .systemTrust).isPinning)
        #expect(!StandardTrustEvaluator.anyOf(.systemTrust, try pinning(stranger)).isPinning)
    }

    // MARK: Anchors and positions

    @Test func anchorsReplaceOrExtendTheSystems() async throws {
        let other = try TestPKI()
        #expect(await reason(try .onlyAnchors([pki.root]), identity.trust()) == nil)
        #expect(await reason(try .onlyAnchors([other.root]), identity.trust()) == .unknownAuthority)
        #expect(await reason(try .additionalAnchors([pki.root]), identity.trust()) == nil)
        #expect(await reason(.systemTrust, identity.trust()) == .unknownAuthority)
    }

    @Test func pinsCanBeComparedWithTheLeafOnly() async throws {
        #expect(try await pinning(identity.pin, position: .leaf).refusal(of: identity.chain) == nil)
        for pin in [pki.intermediate.publicKeyPin, pki.root.publicKeyPin] {
            #expect(try await pinning(pin).refusal(of: identity.chain) == nil)
            #expect(try await pinning(pin, position: .leaf).refusal(of: identity.chain)?.reason == .pinMismatch)
        }
        let certificates = try StandardTrustEvaluator.certificatePins([pki.root], anchors: pki.anchors, position: .leaf)
        #expect(await certificates.refusal(of: identity.chain)?.reason == .pinMismatch)
        let leaf = try StandardTrustEvaluator.certificatePins(
            [identity.certificate], anchors: pki.anchors, position: .leaf)
        #expect(await leaf.refusal(of: identity.chain) == nil)
    }

    // MARK: Pin sets

    @Test func backupPinsMatchLikeOtherPins() async throws {
        let set = PinSet([stranger], backupPins: [identity.pin, stranger])
        #expect(set.all == [stranger, identity.pin])
        #expect(await reason(try .pins(set, anchors: pki.anchors), identity.trust()) == nil)
    }

    @Test func emptyPinSetIsAnError() {
        let error = #expect(throws: SecurityError.self) { try StandardTrustEvaluator.pins(PinSet([])) }
        #expect(error?.code == .noPins)
    }

    @Test(
        arguments: [
            (-1, .dropPins, .pinMismatch), (-1, .refuse, .pinMismatch),
            (0, .dropPins, nil), (1, .dropPins, nil), (0, .refuse, .pinsExpired), (1, .refuse, .pinsExpired),
        ] as [(Double, PinSet.Expiry.Consequence, TrustRefusal.Reason?)])
    func consequenceOfExpiryIsApplied(
        seconds: Double, then consequence: PinSet.Expiry.Consequence, expected: TrustRefusal.Reason?
    ) async throws {
        let end = Date.days(1)
        let set = PinSet([stranger], expiry: PinSet.Expiry(end, then: consequence))
        let evaluator = try StandardTrustEvaluator.pins(set, anchors: pki.anchors)
        let trust = identity.trust(time: end.addingTimeInterval(seconds))
        let refusal = await evaluator.evaluate(trust).refusal
        #expect(refusal?.reason == expected)
        #expect(refusal == nil || refusal?.pinsExpire == end)
        #expect(evaluator.isPinning)
    }

    @Test func afterExpiryTheChainIsStillVerified() async throws {
        let set = PinSet([identity.pin], expiry: PinSet.Expiry(.days(-1), then: .dropPins))
        let evaluator = try StandardTrustEvaluator.pins(set, anchors: pki.anchors)
        #expect(await evaluator.refusal(of: try TestPKI().identity().chain)?.reason == .unknownAuthority)
        #expect(await evaluator.refusal(of: identity.chain, host: "other.example")?.reason == .hostnameMismatch)
        #expect(await evaluator.trust(in: identity.chain)?.isPinned == false)
    }

    @Test func decisionIsValidNoLongerThanThePins() async throws {
        // The root was made first, and its validity can end a second earlier.
        let certificate = min(identity.certificate.notAfter, pki.root.notAfter)
        for (end, expected) in [(Date.days(1), Date.days(1)), (.days(1000), certificate)] {
            let set = PinSet([identity.pin], expiry: PinSet.Expiry(end, then: .dropPins))
            let verified = await (try StandardTrustEvaluator.pins(set, anchors: pki.anchors)).trust(in: identity.chain)
            let until = try #require(verified?.validUntil)
            #expect(abs(until.timeIntervalSince(expected)) < 3600)
        }
        let unlimited = await (try StandardTrustEvaluator.pins(PinSet([identity.pin]), anchors: pki.anchors)).trust(
            in: identity.chain)
        #expect(unlimited?.validUntil == certificate)
        let judged = StandardTrustEvaluator.accepting(.systemTrust(anchors: try pki.anchors)) { _, _ in nil }
        let verified = try #require(await judged.trust(in: identity.chain))
        #expect(verified.validUntil == nil)
    }

    // MARK: Report only

    @Test func reportOnlyReportsAndDoesNotRefuse() async throws {
        let system = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
        let trial = StandardTrustEvaluator.reportOnly(try pinning(stranger), enforcing: system)
        let verified = try #require(await trial.trust(in: identity.chain))
        #expect(verified.findings.map(\.reason) == [.pinMismatch])
        #expect(!verified.isPinned && !trial.isPinning)
        #expect(
            await StandardTrustEvaluator.reportOnly(try pinning(identity.pin), enforcing: system).trust(
                in: identity.chain)?.findings
                .isEmpty == true)
        #expect(await trial.refusal(of: try TestPKI().identity().chain)?.reason == .unknownAuthority)
    }

    @Test func findingsAreKeptWhereEvaluatorsAreCombined() async throws {
        let trial = StandardTrustEvaluator.reportOnly(
            try pinning(stranger), enforcing: .systemTrust(anchors: try pki.anchors))
        let pinned = try pinning(identity.pin)
        for evaluator in [.allOf(trial, pinned), .allOf(pinned, trial)] as [StandardTrustEvaluator] {
            let verified = await evaluator.trust(in: identity.chain)
            #expect(verified?.findings.count == 1)
            #expect(verified?.isPinned == true)
        }
        let nested = StandardTrustEvaluator.reportOnly(trial, enforcing: pinned)
        #expect(await nested.trust(in: identity.chain)?.findings.count == 1)
        #expect(await StandardTrustEvaluator.anyOf(.refuse, trial).trust(in: identity.chain)?.findings.count == 1)
    }

    // MARK: Refusals by the app

    @Test func appCanRefuseAValidChain() async throws {
        let evaluator = StandardTrustEvaluator.accepting(try pinning(identity.pin)) { trust, verified in
            await Task.yield()
            return verified.chain.count == 3 && trust.host == "localhost" ? "not today\n" : nil
        }
        let refusal = await evaluator.refusal(of: identity.chain)
        #expect(refusal?.reason == .refusedByApp)
        #expect(refusal?.message == "localhost: not today\\u{a}")
        #expect(refusal?.verifiedChain.count == 3)
        #expect(await evaluator.refusal(of: identity.chain, host: "127.0.0.1") == nil)
        #expect(evaluator.isPinning)
    }

    @Test func appIsNotAskedAboutARefusedChain() async throws {
        let calls = Mutex(0)
        let evaluator = StandardTrustEvaluator.accepting(try pinning(stranger)) { _, _ in
            calls.withLock { $0 += 1 }
            return nil
        }
        #expect(await evaluator.refusal(of: identity.chain)?.reason == .pinMismatch)
        #expect(calls.withLock { $0 } == 0)
    }

    @Test func customEvaluatorCanSuspend() async throws {
        let trust = identity.trust()
        let refusal = TrustRefusal(.init("mine"), "no", trust: trust)
        #expect(
            await reason(.allOf(try pinning(identity.pin), Suspending(answer: .refused(refusal))), trust)?.description
                == "mine")
        let verified = VerifiedTrust(chain: trust.presentedChain, pins: [identity.pin], isPinned: false)
        #expect(await reason(.anyOf(.refuse, Suspending(answer: .accepted(verified))), trust) == nil)
    }
}
