/// Asks an evaluator what it would do, and does what another says: to see whom a stricter policy would lock out.
///
/// What the observed one refuses is added to ``VerifiedTrust/findings``, which the policy gives to its
/// ``TrustReporter``; a TLS session that is resumed is not judged, and not reported, again. A chain that the enforced one refuses is refused.
///
/// ```swift
/// let trial = ReportOnlyEvaluator(try PinSetEvaluator(pins))
/// let policy = try SecurityPolicy(rules: [HostRule("**.example.com", trial)]).reporting(to: reporter)
/// ```
public struct ReportOnlyEvaluator: TrustEvaluator {
    private let observed: any TrustEvaluator
    private let enforced: any TrustEvaluator

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - observed: Whose refusals are reported.
    ///   - enforced: Whose verdict holds. The default is the system's store.
    public init(_ observed: any TrustEvaluator, enforcing enforced: any TrustEvaluator = SystemTrustEvaluator()) {
        self.observed = observed
        self.enforced = enforced
    }

    /// Whether the enforced one pins.
    public var isPinning: Bool { enforced.isPinning }

    /// Whether the enforced one allows it.
    public var allowsCleartext: Bool { enforced.allowsCleartext }

    /// Asks the enforced one, and the observed one when that accepts.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await enforced.evaluate(trust)
        guard case .accepted(var verified) = decision else { return decision }
        switch await observed.evaluate(trust) {
        case .accepted(let other): verified.findings += other.findings
        case .refused(let refusal): verified.findings.append(refusal)
        }
        return .accepted(verified)
    }
}
