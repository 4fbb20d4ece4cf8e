extension TrustEvaluator {
    /// The same evaluator, for hosts that may be talked to in clear text as well.
    ///
    /// What is sent over `http` is seen and changed by anyone on the way, and nothing that the evaluator checks holds
    /// there; over `https` its verdicts stay as they are.
    public func insecureAllowingCleartext() -> some TrustEvaluator { CleartextEvaluator(evaluator: self) }
}

/// Judges as another evaluator does, and lets clear text through.
private struct CleartextEvaluator: TrustEvaluator {
    let evaluator: any TrustEvaluator

    var isPinning: Bool { evaluator.isPinning }
    var allowsCleartext: Bool { true }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision { await evaluator.evaluate(trust) }
}
