/// Trusts a chain that ends at an anchor and is for the host: what browsers do.
public struct SystemTrustEvaluator: TrustEvaluator {
    private let verifier: ChainVerifier

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - anchors: Where a chain may end. The default is the system's store.
    ///   - validatesHost: Whether the certificate has to be for the host (RFC 9525). The default is true.
    ///   - profile: How strictly the chain is judged. The default is ``ChainProfile/default``.
    public init(anchors: TrustAnchors = .system, validatesHost: Bool = true, profile: ChainProfile = .default) {
        verifier = ChainVerifier(anchors: anchors, validatesHost: validatesHost, profile: profile)
    }

    /// True where the system's anchors are among the anchors, and a certificate may be accepted of which no revocation is
    /// known: without other anchors alone (``TrustEvaluator/onlyAnchors(_:)``), and without hard failure
    /// (``RevocationOptions/Failure``).
    public var allowsCleartext: Bool { verifier.anchors.includesSystem && verifier.profile.revocation.failure == .soft }

    /// Verifies the chain.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        do {
            return .accepted(VerifiedTrust(try verifier.verify(trust), isPinned: false))
        } catch {
            return .refused(error)
        }
    }
}
