/// Trusts a chain that verifies, and of which one certificate has a pinned key.
///
/// Any certificate of the *verified* chain may match: one that a server adds to what it presents counts for nothing.
public struct PublicKeyPinEvaluator: TrustEvaluator {
    private let verifier: ChainVerifier
    private let pins: Set<PublicKeyPin>
    private let wanted: [PublicKeyPin]

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - pins: The keys, of which one has to be in the chain; give a backup key, too.
    ///   - anchors: Where a chain may end. The default is the system's store.
    ///   - validatesHost: Whether the certificate has to be for the host. The default is true.
    ///
    /// Fails with ``SecurityError/Code/noPins`` when there is no pin.
    public init(
        _ pins: [PublicKeyPin], anchors: TrustAnchors = .system, validatesHost: Bool = true
    ) throws(SecurityError) {
        guard !pins.isEmpty else { throw SecurityError(.noPins, "A pinning policy needs one pin at least.") }
        verifier = ChainVerifier(anchors: anchors, validatesHost: validatesHost)
        wanted = pins
        self.pins = Set(pins)
    }

    /// True.
    public var isPinning: Bool { true }

    /// Verifies the chain, then looks for a pinned key.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        do {
            let verified = VerifiedTrust(try verifier.verify(trust), isPinned: true)
            guard verified.pins.contains(where: pins.contains) else {
                return .refused(.pinMismatch(trust, verified, wanted))
            }
            return .accepted(verified)
        } catch {
            var refusal = error
            refusal.wantedPins = wanted
            return .refused(refusal)
        }
    }
}

extension TrustRefusal {
    static func pinMismatch(
        _ trust: ServerTrust, _ verified: VerifiedTrust, _ wanted: [PublicKeyPin]
    ) -> TrustRefusal {
        let seen = verified.pins.map(\.description).joined(separator: ", ")
        let wantedList = wanted.map(\.description).joined(separator: ", ")
        return TrustRefusal(
            .pinMismatch, "\(trust.host): no key of the chain is pinned; seen: \(seen); wanted: \(wantedList).",
            trust: trust,
            certificate: verified.chain.first.flatMap { X509Handle(der: $0) }.map(CertificateSummary.init),
            seenPins: verified.pins, wantedPins: wanted)
    }
}
