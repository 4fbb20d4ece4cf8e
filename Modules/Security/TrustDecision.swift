/// The verdict on a server's chain.
public enum TrustDecision: Sendable {
    /// The connection may be used.
    case accepted(VerifiedTrust)
    /// The connection must not be used.
    case refused(TrustRefusal)
}

extension TrustDecision {
    /// Whether the connection may be used.
    public var isAccepted: Bool {
        if case .accepted = self { true } else { false }
    }

    /// Why it must not be used; nil when it may.
    public var refusal: TrustRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
