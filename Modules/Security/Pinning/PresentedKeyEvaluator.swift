internal import FoundationEssentials

/// Trusts a chain that verifies up to a certificate with a pinned key, whoever issued that one.
///
/// The presented certificates with a pinned key are the anchors: nobody else can have signed what is below them, and nobody
/// else can end a handshake with a leaf of that key. The dates, the purpose, and the host unless it is not wanted, are checked.
struct PresentedKeyEvaluator: TrustEvaluator {
    let pins: [PublicKeyPin]
    let validatesHost: Bool

    var isPinning: Bool { true }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        do {
            let presented = try ChainVerifier.parse(trust)
            let pinned = try presented.filter { pins.contains($0.pin) }.map { handle in
                try Certificate(der: handle.der)
            }
            guard !pinned.isEmpty else {
                return .refused(
                    .pinMismatch(trust, leaf: presented[0], seen: presented.map(\.pin), wanted: pins))
            }
            let evaluator = try PublicKeyPinEvaluator(
                pins, anchors: .certificates(pinned), validatesHost: validatesHost)
            return await evaluator.evaluate(trust)
        } catch let error as TrustRefusal {
            return .refused(error)
        } catch {
            return .refused(TrustRefusal(.internalFailure, "\(trust.host.oneLine): \(error)", trust: trust))
        }
    }
}
