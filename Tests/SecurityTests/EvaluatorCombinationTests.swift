import LinnetSecurity
import LinnetTesting
import Synchronization
import Testing

@Suite("Combined evaluators", .timeLimit(.minutes(1)))
struct EvaluatorCombinationTests {
    /// Returns a given decision and counts its calls.
    private final class Counting: TrustEvaluator {
        let pins: Bool?
        let calls = Mutex(0)

        /// Nil refuses.
        init(accepting pins: Bool?) { self.pins = pins }

        var count: Int { calls.withLock { $0 } }

        func evaluate(_ trust: ServerTrust) async -> TrustDecision {
            calls.withLock { $0 += 1 }
            guard let pins else { return .refused(TrustRefusal(.init("counted"), "no", trust: trust)) }
            return .accepted(VerifiedTrust(chain: trust.presentedChain, pins: [], isPinned: pins))
        }
    }

    private let trust = ServerTrust([])

    @Test func allMustAccept() async {
        let (first, second, third) = (Counting(accepting: false), Counting(accepting: nil), Counting(accepting: true))
        let decision = await StandardTrustEvaluator.allOf(first, second, third).evaluate(trust)
        #expect(decision.refusal?.reason.description == "counted")
        #expect([first.count, second.count, third.count] == [1, 1, 0])
    }

    @Test func oneRefusalRefuses() async {
        #expect(
            await StandardTrustEvaluator.allOf(Counting(accepting: true), Counting(accepting: nil)).evaluate(trust)
                .refusal != nil)
        #expect(await StandardTrustEvaluator.allOf(Counting(accepting: nil)).evaluate(trust).refusal != nil)
        #expect(
            await StandardTrustEvaluator.allOf(Counting(accepting: nil), Counting(accepting: true)).evaluate(trust)
                .refusal != nil)
    }

    @Test(arguments: [
        ([false], false), ([true], true), ([true, false, false], true), ([false, true, false], true),
        ([false, false, true], true), ([false, false], false),
    ])
    func resultIsPinnedIfOneMemberMatchedAPin(answers: [Bool], isPinned: Bool) async {
        let all = answers.map { Counting(accepting: $0) }
        let evaluator = all.dropFirst().reduce(StandardTrustEvaluator.allOf(all[0])) {
            StandardTrustEvaluator.allOf($0, $1)
        }
        guard case .accepted(let trust) = await evaluator.evaluate(trust) else { return #expect(Bool(false)) }
        #expect(trust.isPinned == isPinned)
    }

    /// A chain with a pin that matched is above a verified one, and a verified one above the presented one.
    @Test func theResultIsTheStrongestChain() async throws {
        let pki = try TestPKI()
        let chain = try pki.identity().chain
        let verifying = StandardTrustEvaluator.systemTrust(anchors: try .certificates([pki.root]))
        let (presenting, pinning) = (Counting(accepting: false), Counting(accepting: true))
        // Only the verified chain has pins: the others are from an evaluator that names none.
        let cases: [(StandardTrustEvaluator, Bool)] = [
            (.allOf(verifying, presenting), true), (.allOf(presenting, verifying), true),
            (.allOf(verifying, pinning), false), (.allOf(pinning, verifying), false),
            (.allOf(presenting, pinning, verifying), false),
        ]
        for (index, (evaluator, isVerified)) in cases.enumerated() {
            let trust = try #require(await evaluator.trust(in: chain), "case \(index)")
            #expect(trust.pins.isEmpty != isVerified && trust.isPinned != isVerified, "case \(index)")
        }
    }

    @Test func aCustomEvaluatorNeitherPinsNorAllowsClearText() {
        let evaluator = Counting(accepting: true)
        #expect(!evaluator.isPinning && !evaluator.allowsCleartext)
    }

    @Test func allOfPinsIfOneMemberPins() throws {
        let pinning = try StandardTrustEvaluator.pins([TestPKI.selfSigned().pin])
        #expect(StandardTrustEvaluator.allOf(.hostname, pinning).isPinning)
        #expect(StandardTrustEvaluator.allOf(pinning, .hostname).isPinning)
        #expect(!StandardTrustEvaluator.allOf(.hostname, .systemTrust).isPinning)
    }

    @Test func twoPinsCanBeRequiredTogether() async throws {
        let pki = try TestPKI()
        let identity = try pki.identity()
        let anchors = try TrustAnchors.certificates([pki.root])
        let leaf = try StandardTrustEvaluator.pins([identity.pin], anchors: anchors)
        let root = try StandardTrustEvaluator.pins([pki.root.publicKeyPin], anchors: anchors)
        let both = StandardTrustEvaluator.allOf(leaf, root, .hostname)
        #expect(await both.trust(in: identity.chain)?.isPinned == true)
        #expect(await both.refusal(of: identity.chain, host: "other.example")?.reason == .hostnameMismatch)
        #expect(await both.refusal(of: try pki.identity().chain)?.reason == .pinMismatch)
    }

    @Test func otherHostsCanBeRefused() async throws {
        let pki = try TestPKI()
        let policy = try SecurityPolicy(
            rules: [HostRule("localhost", .systemTrust(anchors: .certificates([pki.root])))],
            otherHosts: .refuse)
        let chain = try pki.identity { $0.hosts = ["localhost", "other.example"] }.chain
        #expect(await policy.evaluate(ServerTrust(chain)).isAccepted)
        let refusal = await policy.evaluate(ServerTrust(chain, host: "other.example")).refusal
        #expect(refusal?.reason == .hostRefused)
        #expect(refusal?.description == "other.example: the policy refuses this host.")
        #expect(refusal?.errorDescription == refusal?.description)
    }
}
