/// Judges a server's chain.
///
/// An evaluator may take its time: the handshake waits for it, off the event loop, under the TLS timeout.
public protocol TrustEvaluator: Sendable {
    /// The verdict. What cannot be decided is refused.
    func evaluate(_ trust: ServerTrust) async -> TrustDecision

    /// Whether it accepts no chain without a match of its pins.
    var isPinning: Bool { get }

    /// Whether a request in clear text, `http`, may go to a host that it judges.
    ///
    /// A check that narrows trust is worth nothing if leaving TLS out gets round it. So the default is false, and the
    /// evaluators of this module say true only where they trust no less than ``SystemTrustEvaluator`` does by default.
    /// ``insecureAllowingCleartext()`` makes an exception.
    var allowsCleartext: Bool { get }
}

extension TrustEvaluator {
    /// False.
    public var isPinning: Bool { false }

    /// False.
    public var allowsCleartext: Bool { false }
}
