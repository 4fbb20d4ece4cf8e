internal import FoundationEssentials
internal import LinnetMessages

/// Accepts chains that all evaluators accept.
struct AllOfEvaluator: TrustEvaluator {
    let first: any TrustEvaluator
    let others: [any TrustEvaluator]

    var isPinning: Bool { first.isPinning || others.contains { $0.isPinning } }
    var allowsCleartext: Bool { first.allowsCleartext && others.allSatisfy { $0.allowsCleartext } }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await first.evaluate(trust)
        guard case .accepted(var verified) = decision else { return decision }
        var validUntil = verified.validUntil
        for evaluator in others {
            let decision = await evaluator.evaluate(trust)
            guard case .accepted(let next) = decision else { return decision }
            let findings = verified.findings + next.findings
            let awaitsStaple = verified.awaitsStaple || next.awaitsStaple
            let isHostValidated = verified.isHostValidated || next.isHostValidated
            if next.strength > verified.strength { verified = next }
            verified.isHostValidated = isHostValidated
            verified.awaitsStaple = awaitsStaple
            validUntil = if let validUntil, let until = next.validUntil { min(validUntil, until) } else { nil }
            verified.findings = findings
        }
        verified.validUntil = validUntil
        return .accepted(verified)
    }
}

extension VerifiedTrust {
    /// Ranks chains: a pinned one above a verified one above a presented one.
    fileprivate var strength: Int { (isPinned ? 2 : 0) + (isAnchored ? 1 : 0) }
}

/// Accepts chains that one of the evaluators accepts.
struct AnyOfEvaluator: TrustEvaluator {
    let first: any TrustEvaluator
    let others: [any TrustEvaluator]

    /// False unless each evaluator pins: another one would accept a chain without a match.
    var isPinning: Bool { first.isPinning && others.allSatisfy { $0.isPinning } }
    /// True if one allows it: the combination trusts at least as much as that one.
    var allowsCleartext: Bool { first.allowsCleartext || others.contains { $0.allowsCleartext } }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
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
    /// The refusal with the reasons and pins of the other evaluators.
    fileprivate func joined(with others: [TrustRefusal]) -> TrustRefusal {
        guard !others.isEmpty else { return self }
        var refusal = self
        refusal.message += " The other evaluators refuse it, too: "
        refusal.message += others.map(\.reason.description).joined(separator: ", ") + "."
        for pin in others.flatMap(\.wantedPins) where !refusal.wantedPins.contains(pin) {
            refusal.wantedPins.append(pin)
        }
        return refusal
    }
}

/// Enforces one evaluator and reports the refusals of another.
struct ReportOnlyEvaluator: TrustEvaluator {
    let observed: any TrustEvaluator
    let enforced: any TrustEvaluator

    var isPinning: Bool { enforced.isPinning }
    var allowsCleartext: Bool { enforced.allowsCleartext }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await enforced.evaluate(trust)
        guard case .accepted(var verified) = decision else { return decision }
        switch await observed.evaluate(trust) {
        case .accepted(let other):
            verified.findings += other.findings
            // Without its staple, the observed evaluator is asked again, and then its refusal is reported.
            verified.awaitsStaple = verified.awaitsStaple || other.awaitsStaple
        case .refused(let refusal): verified.findings.append(refusal)
        }
        return .accepted(verified)
    }
}

/// Lets the app refuse chains that an evaluator accepts.
struct AppRefusalEvaluator: TrustEvaluator {
    let evaluator: any TrustEvaluator
    let reason: @Sendable (ServerTrust, VerifiedTrust) async -> String?

    var isPinning: Bool { evaluator.isPinning }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await evaluator.evaluate(trust)
        guard case .accepted(var verified) = decision else { return decision }
        guard let reason = await reason(trust, verified) else {
            // The app's answer may change, so that no TLS session may stand for it.
            verified.validUntil = nil
            return .accepted(verified)
        }
        var refusal = TrustRefusal(
            .refusedByApp, "\(trust.host.oneLine): \(reason.oneLine)", trust: trust, seenPins: verified.pins)
        refusal.verifiedChain = verified.chain
        return .refused(refusal)
    }
}
