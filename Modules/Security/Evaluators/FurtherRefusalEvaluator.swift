/// Lets the app judge what an evaluator has accepted: it can refuse further, and never accept what was refused.
///
/// What the app will say tomorrow is not known today, so it is asked in each handshake: TLS sessions are not resumed.
///
/// ```swift
/// let evaluator = FurtherRefusalEvaluator(SystemTrustEvaluator()) { trust, verified in
///     await blocklist.contains(verified.pins) ? "this key is on our list" : nil
/// }
/// ```
public struct FurtherRefusalEvaluator: TrustEvaluator {
    /// Why a chain that holds is not to be trusted, in words; nil when it is. May take its time, under the TLS timeout,
    /// and is not on an event loop.
    public typealias Judgement = @Sendable (_ trust: ServerTrust, _ verified: VerifiedTrust) async -> String?

    private let evaluator: any TrustEvaluator
    private let judgement: Judgement

    /// Makes an evaluator.
    public init(_ evaluator: any TrustEvaluator, refusingWhen judgement: @escaping Judgement) {
        self.evaluator = evaluator
        self.judgement = judgement
    }

    /// Whether the evaluator pins.
    public var isPinning: Bool { evaluator.isPinning }

    /// Asks the evaluator, then the app; refuses with ``TrustRefusal/Reason/refusedByApp`` when the app does.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await evaluator.evaluate(trust)
        guard case .accepted(var verified) = decision else { return decision }
        guard let reason = await judgement(trust, verified) else {
            verified.validUntil = nil
            return .accepted(verified)
        }
        var refusal = TrustRefusal(
            .refusedByApp, "\(trust.host.oneLine): \(reason.oneLine)", trust: trust, seenPins: verified.pins)
        refusal.verifiedChain = verified.chain
        return .refused(refusal)
    }
}
