internal import FoundationEssentials

/// Accepts every chain, whoever presents it: anyone on the way can read and change what is sent.
public struct InsecureAcceptAnyCertificateEvaluator: TrustEvaluator {
    /// Makes an evaluator.
    public init() {}

    /// True.
    public var allowsCleartext: Bool { true }

    /// Accepts.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        // What is too large to be looked at is accepted, too, but not looked at.
        let pins = (try? ChainVerifier.parse(trust))?.map(\.pin) ?? []
        var verified = VerifiedTrust(
            chain: trust.presentedChain, pins: pins, isPinned: false, validUntil: .distantFuture)
        verified.awaitsStaple = false
        return .accepted(verified)
    }
}
