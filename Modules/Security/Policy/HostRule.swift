/// Which evaluator judges which hosts.
public struct HostRule: Sendable {
    /// The hosts.
    public let pattern: HostPattern
    /// Who judges them.
    public let evaluator: any TrustEvaluator

    /// Makes a rule.
    public init(_ pattern: HostPattern, _ evaluator: any TrustEvaluator) {
        self.pattern = pattern
        self.evaluator = evaluator
    }

    /// Makes a rule from a pattern's text.
    ///
    /// Fails with ``SecurityError/Code/invalidPattern``.
    public init(_ pattern: String, _ evaluator: any TrustEvaluator) throws(SecurityError) {
        self.init(try HostPattern(pattern), evaluator)
    }
}
