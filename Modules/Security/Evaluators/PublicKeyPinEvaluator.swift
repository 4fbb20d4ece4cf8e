/// Trusts a chain that verifies, and of which one certificate has a pinned key.
///
/// Any certificate of the *verified* chain may match, or the leaf alone: one that a server adds to what it presents counts
/// for nothing.
public struct PublicKeyPinEvaluator: TrustEvaluator {
    private let verifier: ChainVerifier
    private let pins: Set<PublicKeyPin>
    private let wanted: [PublicKeyPin]
    private let position: PinPosition

    /// Makes an evaluator.
    ///
    /// - Parameters:
    ///   - pins: The keys, of which one has to be in the chain; give a backup key, too.
    ///   - anchors: Where a chain may end. The default is the system's store.
    ///   - validatesHost: Whether the certificate has to be for the host. The default is true.
    ///   - position: Which certificate's key counts. The default is any of the verified chain.
    ///   - profile: How strictly the chain is judged. The default is ``ChainProfile/default``.
    ///
    /// Fails with ``SecurityError/Code/noPins`` when there is no pin.
    public init(
        _ pins: [PublicKeyPin], anchors: TrustAnchors = .system, validatesHost: Bool = true,
        position: PinPosition = .anyInVerifiedChain, profile: ChainProfile = .default
    ) throws(SecurityError) {
        guard !pins.isEmpty else { throw SecurityError(.noPins, "A pinning policy needs one pin at least.") }
        verifier = ChainVerifier(anchors: anchors, validatesHost: validatesHost, profile: profile)
        wanted = pins
        self.position = position
        self.pins = Set(pins)
    }

    /// True.
    public var isPinning: Bool { true }

    /// Verifies the chain, then looks for a pinned key.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        verifier.decide(trust, wanted: wanted) { $0.pins(at: position).contains(where: pins.contains) }
    }
}

extension ChainVerifier {
    /// Verifies the chain, then asks whether it is pinned.
    func decide(
        _ trust: ServerTrust, wanted: [PublicKeyPin], isPinned: (VerifiedTrust) -> Bool
    ) -> TrustDecision {
        do {
            let chain = try verify(trust)
            let verified = VerifiedTrust(chain, isPinned: true)
            guard isPinned(verified) else {
                var refusal = TrustRefusal.pinMismatch(trust, leaf: chain.leaf, seen: verified.pins, wanted: wanted)
                refusal.verifiedChain = verified.chain
                return .refused(refusal)
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
        _ trust: ServerTrust, leaf: X509Handle, seen: [PublicKeyPin], wanted: [PublicKeyPin]
    ) -> TrustRefusal {
        TrustRefusal(
            .pinMismatch,
            "\(trust.host.oneLine): no certificate of the verified chain is pinned; seen: \(list(seen)); "
                + "wanted: \(list(wanted)).",
            trust: trust, certificate: CertificateSummary(leaf), seenPins: seen, wantedPins: wanted)
    }

    /// A line stays readable with the first few; the rest is in the properties.
    private static func list(_ pins: [PublicKeyPin]) -> String {
        let first = pins.prefix(8).map(\.description).joined(separator: ", ")
        return pins.count > 8 ? first + " and \(pins.count - 8) more" : first
    }
}
