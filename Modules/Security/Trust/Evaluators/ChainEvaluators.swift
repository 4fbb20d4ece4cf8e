internal import FoundationEssentials
internal import LinnetMessages

/// Accepts chains that verify.
struct AnchorEvaluator: TrustEvaluator {
    let verifier: ChainVerifier

    // Clear text bypasses every check, so it needs an evaluator that trusts all servers of the system's store.
    var allowsCleartext: Bool { verifier.anchors.includesSystem && verifier.profile.revocation.failure == .soft }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        do {
            return .accepted(VerifiedTrust(try verifier.verify(trust), isPinned: false))
        } catch {
            return .refused(error)
        }
    }
}

/// Accepts chains that verify and contain a pinned key.
struct PublicKeyPinEvaluator: TrustEvaluator {
    let verifier: ChainVerifier
    let wanted: [PublicKeyPin]
    let position: PinSet.Position
    private let pins: Set<PublicKeyPin>

    init(
        _ pins: [PublicKeyPin], verifier: ChainVerifier, position: PinSet.Position = .anyInVerifiedChain
    ) throws(SecurityError) {
        guard !pins.isEmpty else { throw SecurityError(.noPins, "A pinning policy needs at least one pin.") }
        self.verifier = verifier
        self.pins = Set(pins)
        wanted = pins
        self.position = position
    }

    var isPinning: Bool { true }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        verifier.decide(trust, wanted: wanted) { $0.pins(at: position).contains(where: pins.contains) }
    }
}

/// Accepts chains that verify and contain a pinned certificate.
struct CertificatePinEvaluator: TrustEvaluator {
    let verifier: ChainVerifier
    let certificates: [X509Certificate]
    let position: PinSet.Position
    private let pinned: Set<Data>
    private let wanted: [PublicKeyPin]

    init(_ certificates: [X509Certificate], verifier: ChainVerifier, position: PinSet.Position) {
        self.verifier = verifier
        self.certificates = certificates
        pinned = Set(certificates.map(\.derBytes))
        wanted = certificates.map(\.publicKeyPin)
        self.position = position
    }

    var isPinning: Bool { true }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        verifier.decide(trust, wanted: wanted) { verified in
            (position == .leaf ? verified.chain.prefix(1) : verified.chain[...]).contains(where: pinned.contains)
        }
    }
}

/// Accepts chains that verify and, until the set expires, contain a key of the set.
struct PinSetEvaluator: TrustEvaluator {
    let set: PinSet
    private let pinned: PublicKeyPinEvaluator
    private let unpinned: AnchorEvaluator

    init(_ set: PinSet, verifier: ChainVerifier) throws(SecurityError) {
        pinned = try PublicKeyPinEvaluator(set.all, verifier: verifier, position: set.position)
        unpinned = AnchorEvaluator(verifier: verifier)
        self.set = set
    }

    var verifier: ChainVerifier { unpinned.verifier }
    var isPinning: Bool { true }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        guard let expiry = set.expiry, trust.time >= expiry.date else {
            return await pinnedDecision(trust)
        }
        guard expiry.consequence == .refuse else { return await unpinned.evaluate(trust) }
        var refusal = TrustRefusal(
            .pinsExpired,
            "\(trust.host.oneLine): the pins expired on \(expiry.date.formatted(.iso8601)), and the policy refuses "
                + "connections since then; update the policy.", trust: trust, wantedPins: set.all)
        refusal.pinsExpire = expiry.date
        return .refused(refusal)
    }

    /// A decision that depends on pins expires with them.
    private func pinnedDecision(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await pinned.evaluate(trust)
        guard let end = set.expiry?.date else { return decision }
        guard case .accepted(var verified) = decision else { return decision.refusal { $0.pinsExpire = end } }
        verified.validUntil = verified.validUntil.map { min($0, end) }
        return .accepted(verified)
    }
}

/// Accepts a chain that verifies up to a presented certificate with a pinned key, whatever its issuer.
///
/// The presented certificates with a pinned key are the anchors: only the owner of the key can have signed certificates
/// below them, or complete a handshake with a leaf of that key. Dates, purpose and, unless disabled, the host are
/// checked.
struct PresentedKeyEvaluator: TrustEvaluator {
    let pins: [PublicKeyPin]
    let validatesHost: Bool

    var isPinning: Bool { true }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        do {
            let presented = try ChainVerifier.parse(trust)
            let pinned = try presented.filter { pins.contains($0.pin) }.map { handle in
                try X509Certificate(der: handle.der)
            }
            guard !pinned.isEmpty else {
                return .refused(
                    .pinMismatch(trust, leaf: presented[0], seen: presented.map(\.pin), wanted: pins))
            }
            let verifier = ChainVerifier(anchors: try .certificates(pinned), validatesHost: validatesHost)
            return await (try PublicKeyPinEvaluator(pins, verifier: verifier)).evaluate(trust)
        } catch let error as TrustRefusal {
            return .refused(error)
        } catch {
            return .refused(TrustRefusal(.internalFailure, "\(trust.host.oneLine): \(error)", trust: trust))
        }
    }
}

extension ChainVerifier {
    /// Verifies the chain, then checks whether it is pinned.
    fileprivate func decide(
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
    fileprivate static func pinMismatch(
        _ trust: ServerTrust, leaf: X509Handle, seen: [PublicKeyPin], wanted: [PublicKeyPin]
    ) -> TrustRefusal {
        TrustRefusal(
            .pinMismatch,
            "\(trust.host.oneLine): no certificate of the verified chain is pinned; seen: \(list(seen)); "
                + "wanted: \(list(wanted)).",
            trust: trust, certificate: CertificateSummary(leaf), seenPins: seen, wantedPins: wanted)
    }

    /// Limits the message to the first pins; the properties have all.
    private static func list(_ pins: [PublicKeyPin]) -> String {
        let first = pins.prefix(8).map(\.description).joined(separator: ", ")
        return pins.count > 8 ? first + " and \(pins.count - 8) more" : first
    }
}
