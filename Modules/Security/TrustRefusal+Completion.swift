internal import FoundationEssentials

extension TrustRefusal {
    /// The refusal with what the presented chain says, where the evaluator left it open.
    func completed(by trust: ServerTrust) -> TrustRefusal {
        guard seenPins.isEmpty || certificate == nil, let chain = try? ChainVerifier.parse(trust) else { return self }
        var refusal = self
        if seenPins.isEmpty { refusal.seenPins = chain.map(\.pin) }
        if certificate == nil { refusal.certificate = chain.first.map { CertificateSummary($0) } }
        return refusal
    }
}
