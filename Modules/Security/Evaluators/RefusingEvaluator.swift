/// Refuses every chain: for hosts that must not be talked to.
public struct RefusingEvaluator: TrustEvaluator {
    /// Makes an evaluator.
    public init() {}

    /// Refuses with ``TrustRefusal/Reason/hostRefused``.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        .refused(TrustRefusal(.hostRefused, "\(trust.host.oneLine): the policy refuses this host.", trust: trust))
    }
}
