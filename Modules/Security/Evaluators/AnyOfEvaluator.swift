/// Trusts what one of its evaluators trusts.
///
/// They are asked in order; the first that accepts gives the verdict with its verified chain, and the others are not asked.
/// When all refuse, the first one's refusal is the verdict; its message names the reasons of the others, and its
/// ``TrustRefusal/wantedPins`` are those of all.
public struct AnyOfEvaluator: TrustEvaluator {
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

    /// Whether each of them pins: one that does not would accept a chain without a match.
    public var isPinning: Bool { first.isPinning && others.allSatisfy { $0.isPinning } }

    /// Whether one of them allows it: all together trust no less than that one.
    public var allowsCleartext: Bool { first.allowsCleartext || others.contains { $0.allowsCleartext } }

    /// Asks each in turn, until one accepts.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await first.evaluate(trust)
        guard let refusal = decision.refusal else { return decision }
        var refusals: [TrustRefusal] = []
        for evaluator in others {
            let decision = await evaluator.evaluate(trust)
            guard let refusal = decision.refusal else { return decision }
            refusals.append(refusal)
        }
        return .refused(refusal.joined(with: refusals))
    }
}

extension TrustRefusal {
    /// The refusal, with what others who were asked as well say.
    fileprivate func joined(with others: [TrustRefusal]) -> TrustRefusal {
        guard !others.isEmpty else { return self }
        var refusal = self
        refusal.message += " Refused otherwise, too: " + others.map(\.reason.description).joined(separator: ", ") + "."
        for pin in others.flatMap(\.wantedPins) where !refusal.wantedPins.contains(pin) {
            refusal.wantedPins.append(pin)
        }
        return refusal
    }
}
