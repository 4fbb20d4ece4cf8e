internal import FoundationEssentials

/// Trusts a chain that verifies, and of which one certificate is pinned, byte for byte.
///
/// By default the pinned certificates are the only anchors, as with AFNetworking's certificate mode: a certificate that
/// signed itself is accepted when it is pinned, in time and for the host.
public struct CertificatePinEvaluator: TrustEvaluator {
    private let verifier: ChainVerifier
    private let pinned: Set<Data>
    private let wanted: [PublicKeyPin]
    private let position: PinPosition

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - certificates: The certificates, of which one has to be in the verified chain.
    ///   - anchors: Where a chain may end; nil, the default, is at the pinned certificates.
    ///   - validatesHost: Whether the certificate has to be for the host. The default is true.
    ///   - position: Which certificate counts. The default is any of the verified chain.
    ///   - profile: How strictly the chain is judged. The default is ``ChainProfile/default``.
    ///
    /// Fails with ``SecurityError/Code/noPins`` when there is no certificate.
    public init(
        _ certificates: [Certificate], anchors: TrustAnchors? = nil, validatesHost: Bool = true,
        position: PinPosition = .anyInVerifiedChain, profile: ChainProfile = .default
    ) throws(SecurityError) {
        guard !certificates.isEmpty else {
            throw SecurityError(.noPins, "A pinning policy needs one certificate at least.")
        }
        let end = if let anchors { anchors } else { try TrustAnchors.certificates(certificates) }
        verifier = ChainVerifier(anchors: end, validatesHost: validatesHost, profile: profile)
        pinned = Set(certificates.map(\.derBytes))
        wanted = certificates.map(\.publicKeyPin)
        self.position = position
    }

    /// True.
    public var isPinning: Bool { true }

    /// Verifies the chain, then looks for a pinned certificate.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        verifier.decide(trust, wanted: wanted) { verified in
            (position == .leaf ? verified.chain.prefix(1) : verified.chain[...]).contains(where: pinned.contains)
        }
    }
}
