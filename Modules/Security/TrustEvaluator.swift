/// Judges a server's chain.
///
/// An evaluator may take its time: the handshake waits for it, off the event loop, under the TLS timeout.
public protocol TrustEvaluator: Sendable {
    /// The verdict. What cannot be decided is refused.
    func evaluate(_ trust: ServerTrust) async -> TrustDecision

    /// Whether it accepts no chain without a match of its pins.
    var isPinning: Bool { get }
}

extension TrustEvaluator {
    /// False.
    public var isPinning: Bool { false }
}
