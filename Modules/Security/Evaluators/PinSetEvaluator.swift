internal import FoundationEssentials

/// Trusts a chain that verifies and has a key of a ``PinSet``, as long as the set counts.
///
/// The moment of the question, ``ServerTrust/time``, decides whether the set has expired.
public struct PinSetEvaluator: TrustEvaluator {
    private let pinned: PublicKeyPinEvaluator
    private let unpinned: SystemTrustEvaluator
    private let set: PinSet

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - set: The keys.
    ///   - anchors: Where a chain may end, also once the pins have expired. The default is the system's store.
    ///   - validatesHost: Whether the certificate has to be for the host. The default is true.
    ///   - profile: How strictly the chain is judged. The default is ``ChainProfile/default``.
    ///
    /// Fails with ``SecurityError/Code/noPins`` when the set is empty.
    public init(
        _ set: PinSet, anchors: TrustAnchors = .system, validatesHost: Bool = true, profile: ChainProfile = .default
    ) throws(SecurityError) {
        pinned = try PublicKeyPinEvaluator(
            set.all, anchors: anchors, validatesHost: validatesHost, position: set.position,
            profile: profile)
        unpinned = SystemTrustEvaluator(anchors: anchors, validatesHost: validatesHost, profile: profile)
        self.set = set
    }

    /// True, also once the set has expired.
    public var isPinning: Bool { true }

    /// Verifies the chain, and looks for a key of the set while the set counts.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        guard let expiry = set.expiry, trust.time >= expiry.date else {
            return await pinnedDecision(trust)
        }
        guard expiry.consequence == .refuse else { return await unpinned.evaluate(trust) }
        var refusal = TrustRefusal(
            .pinsExpired,
            "\(trust.host.oneLine): the pins expired on \(expiry.date.formatted(.iso8601)), and the policy refuses since; "
                + "update the policy.", trust: trust, wantedPins: set.all)
        refusal.pinsExpire = expiry.date
        return .refused(refusal)
    }

    /// A verdict that rests on pins holds no longer than they do.
    private func pinnedDecision(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await pinned.evaluate(trust)
        guard let end = set.expiry?.date else { return decision }
        guard case .accepted(var verified) = decision else { return decision.refusal { $0.pinsExpire = end } }
        verified.validUntil = verified.validUntil.map { min($0, end) }
        return .accepted(verified)
    }
}

extension TrustDecision {
    /// The decision with its refusal changed, if it is one.
    func refusal(_ change: (inout TrustRefusal) -> Void) -> TrustDecision {
        guard case .refused(var refusal) = self else { return self }
        change(&refusal)
        return .refused(refusal)
    }
}
