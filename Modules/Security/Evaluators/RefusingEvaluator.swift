/// Refuses every chain: for hosts that must not be talked to.
public struct RefusingEvaluator: TrustEvaluator {
    /// Makes an evaluator.
    public init() {}

    /// Refuses.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        .refused(TrustRefusal(.hostRefused, "\(trust.host): the policy has no rule for this host.", trust: trust))
    }
}
