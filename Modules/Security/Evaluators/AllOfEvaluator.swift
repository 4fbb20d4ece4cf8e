internal import FoundationEssentials

/// Trusts what every one of its evaluators trusts.
///
/// They are asked in order; the first refusal is the verdict. The chain counts as pinned when one of them matched a pin,
/// and is the one in which the pin was, else the first that was verified up to an anchor, else the first one's. The
/// verdict holds as long as each of theirs does. What any of them merely reports stays among the
/// ``VerifiedTrust/findings``.
public struct AllOfEvaluator: TrustEvaluator {
    private let first: any TrustEvaluator
    private let others: [any TrustEvaluator]

    /// Makes an evaluator of at least one.
    public init(_ first: any TrustEvaluator, _ others: any TrustEvaluator...) {
        self.init(first, others)
    }

    /// Makes an evaluator of one and of others.
    public init(_ first: any TrustEvaluator, _ others: [any TrustEvaluator]) {
        self.first = first
        self.others = others
    }

    /// Whether one of them pins.
    public var isPinning: Bool { first.isPinning || others.contains { $0.isPinning } }

    /// Whether each of them allows it.
    public var allowsCleartext: Bool { first.allowsCleartext && others.allSatisfy { $0.allowsCleartext } }

    /// Asks each in turn.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await first.evaluate(trust)
        guard case .accepted(var verified) = decision else { return decision }
        var validUntil = verified.validUntil
        for evaluator in others {
            let decision = await evaluator.evaluate(trust)
            guard case .accepted(let next) = decision else { return decision }
            let findings = verified.findings + next.findings
            let awaitsStaple = verified.awaitsStaple || next.awaitsStaple
            if next.strength > verified.strength { verified = next }
            verified.awaitsStaple = awaitsStaple
            validUntil = if let validUntil, let until = next.validUntil { min(validUntil, until) } else { nil }
            verified.findings = findings
        }
        verified.validUntil = validUntil
        return .accepted(verified)
    }
}

extension VerifiedTrust {
    /// How much the chain says: more when it was verified, most when it is pinned.
    fileprivate var strength: Int { (isPinned ? 2 : 0) + (isAnchored ? 1 : 0) }
}
