import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Verified chains are cached, without other effects.
@Suite("Verified chains", .timeLimit(.minutes(5)))
struct VerifiedChainTests {
    private let pki: TestPKI
    private let identity: TestPKI.Identity
    private let anchors: TrustAnchors
    private let verified: VerifiedChains

    init() throws {
        pki = try TestPKI()
        identity = try pki.identity { $0.hosts = ["localhost", "example.com"] }
        anchors = try pki.anchors
        verified = try anchors.store().verified
    }

    private var evaluator: StandardTrustEvaluator { StandardTrustEvaluator.systemTrust(anchors: anchors) }

    /// Evaluates the chain so that it is cached.
    private func accept(_ evaluator: any TrustEvaluator) async {
        #expect(await reason(evaluator, identity.trust()) == nil)
        #expect(verified.count > 0)
    }

    @Test func cachedResultEqualsTheFirst() async {
        let first = await evaluator.trust(in: identity.chain)
        let second = await evaluator.trust(in: identity.chain)
        #expect(first?.chain == second?.chain)
        #expect(first?.chain.count == 3)
        #expect(first?.validUntil == second?.validUntil)
        #expect(verified.count == 1)
    }

    @Test func refusedChainsAreNotCached() async {
        #expect(await reason(evaluator, identity.trust("other.example")) == .hostnameMismatch)
        #expect(verified.count == 0)
    }

    @Test func cacheDistinguishesHosts() async {
        await accept(evaluator)
        #expect(await reason(evaluator, identity.trust("example.com")) == nil)
        #expect(await reason(evaluator, identity.trust("other.example")) == .hostnameMismatch)
        #expect(verified.count == 2)
    }

    @Test func resultWithoutHostValidationIsNotUsedForAHost() async {
        await accept(StandardTrustEvaluator.systemTrust(anchors: anchors, validatesHost: false))
        #expect(await reason(evaluator, identity.trust("other.example")) == .hostnameMismatch)
    }

    @Test func validityIsCheckedEachTime() async throws {
        await accept(evaluator)
        let certificates = identity.chain + [pki.root]
        let begin = try #require(certificates.map(\.notBefore).max())
        let end = try #require(certificates.map(\.notAfter).min())
        let moments: [(Date, TrustRefusal.Reason?)] = [
            (begin.addingTimeInterval(-1), .notYetValid), (begin, nil), (end.addingTimeInterval(-0.5), nil), (end, nil),
            (end.addingTimeInterval(0.5), nil), (end.addingTimeInterval(1), .expired), (.days(-40_000), .notYetValid),
        ]
        for (moment, refusal) in moments {
            let fresh = StandardTrustEvaluator.systemTrust(anchors: try pki.anchors)
            #expect(await reason(fresh, identity.trust(time: moment)) == refusal)
            #expect(await reason(evaluator, identity.trust(time: moment)) == refusal)
        }
        #expect(
            await reason(evaluator, identity.trust(time: Date(timeIntervalSince1970: .infinity))) == .internalFailure)
    }

    @Test func cacheBelongsToOneSetOfAnchors() async throws {
        await accept(evaluator)
        let others = StandardTrustEvaluator.systemTrust(anchors: try TestPKI().anchors)
        #expect(await reason(others, identity.trust()) == .unknownAuthority)
    }

    @Test func cacheDistinguishesPresentedChains() async {
        await accept(evaluator)
        let refusal = await evaluator.refusal(of: Array(identity.chain.prefix(1)))
        #expect(refusal?.reason == .unknownAuthority)
    }

    @Test func forgedSignatureIsNotCachedAsTheOriginal() async {
        await accept(evaluator)
        var trust = identity.trust()
        let last = trust.presentedChain[0].count - 1
        trust.presentedChain[0][last] ^= 1
        #expect(await reason(evaluator, trust) != nil)
    }

    @Test func rulesAndPinsAreCheckedEachTime() async throws {
        await accept(evaluator)
        var profile = ChainProfile.strict
        profile.keys.kinds = [.ed25519]
        let strict = StandardTrustEvaluator.systemTrust(anchors: anchors, profile: profile)
        #expect(await reason(strict, identity.trust()) == .keyKind)
        let pinned = try StandardTrustEvaluator.pins([TestPKI.selfSigned().pin], anchors: anchors)
        #expect(await reason(pinned, identity.trust()) == .pinMismatch)
        #expect(verified.count == 1)
    }

    @Test func revocationIsCheckedEachTime() async throws {
        await accept(evaluator)
        var profile = ChainProfile.strict
        profile.revocation.failure = .hard
        let hard = StandardTrustEvaluator.systemTrust(anchors: anchors, profile: profile)
        #expect(await reason(hard, identity.trust()) == .revocationUnknown)
    }

    // MARK: Cache

    private func question(_ host: String) -> VerifiedChains.Question {
        VerifiedChains.Question(
            presented: identity.chain.map(\.handle), host: host, securityLevel: 2, depth: 10, flags: 0)
    }

    /// The last second belongs to the validity (RFC 5280, 4.1.2.5), the next one does not.
    @Test func cachedChainIsValidInItsLastSecond() throws {
        let memory = VerifiedChains()
        let chain = identity.chain.map(\.handle)
        let (begin, end) = (try #require(chain.map(\.notBefore).max()), try #require(chain.map(\.notAfter).min()))
        let question = question("localhost")
        memory.remember(chain, for: question)
        let seconds = [begin, end].map { Int($0.timeIntervalSince1970) }
        #expect(memory.chain(question, at: seconds[0] - 1) == nil)
        #expect(memory.chain(question, at: seconds[0]) == chain)
        #expect(memory.chain(question, at: seconds[1]) == chain)
        #expect(memory.chain(question, at: seconds[1] + 1) == nil)
    }

    @Test func cacheEntriesExpire() throws {
        let (clock, start) = (ManualClock(), ContinuousClock.now)
        let memory = VerifiedChains { start.advanced(by: clock.now.offset) }
        let (chain, now) = (identity.chain.map(\.handle), Int(Date().timeIntervalSince1970))
        let question = question("localhost")
        memory.remember(chain, for: question)
        clock.advance(by: VerifiedChains.longestMemory - .seconds(1))
        #expect(memory.chain(question, at: now) == chain)
        clock.advance(by: .seconds(1))
        #expect(memory.chain(question, at: now) == nil)
        memory.remember(chain, for: question)
        #expect(memory.chain(question, at: now) == chain)
        #expect(memory.count == 1)
    }

    @Test func cacheIsBounded() throws {
        let memory = VerifiedChains()
        let chain = identity.chain.map(\.handle)
        for number in 0...VerifiedChains.capacity { memory.remember(chain, for: question("host\(number)")) }
        #expect(memory.count == VerifiedChains.capacity)
        let now = Int(Date().timeIntervalSince1970)
        #expect(memory.chain(question("host0"), at: now) == nil)
        #expect(memory.chain(question("host1"), at: now) == chain)
    }

    @Test func aRenewedEntryIsTheNewest() throws {
        let memory = VerifiedChains()
        let chain = identity.chain.map(\.handle)
        for number in 0..<VerifiedChains.capacity { memory.remember(chain, for: question("host\(number)")) }
        memory.remember(chain, for: question("host0"))
        memory.remember(chain, for: question("another"))
        #expect(memory.count == VerifiedChains.capacity)
        let now = Int(Date().timeIntervalSince1970)
        #expect(memory.chain(question("host0"), at: now) == chain)
        #expect(memory.chain(question("host1"), at: now) == nil)
    }
}
