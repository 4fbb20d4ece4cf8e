/// Trusts what every one of its evaluators trusts.
///
/// They are asked in order; the first refusal is the verdict, and the last acceptance carries the chain. The chain counts
/// as pinned when one of them matched a pin.
public struct AllOfEvaluator: TrustEvaluator {
    private let first: any TrustEvaluator
    private let others: [any TrustEvaluator]

    /// Makes an evaluator of at least one.
    public init(_ first: any TrustEvaluator, _ others: any TrustEvaluator...) {
        self.first = first
        self.others = others
    }

    /// Whether one of them pins.
    public var isPinning: Bool { first.isPinning || others.contains { $0.isPinning } }

    /// Asks each in turn.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        var decision = await first.evaluate(trust)
        for evaluator in others {
            guard case .accepted(let before) = decision else { return decision }
            decision = await evaluator.evaluate(trust)
            if case .accepted(var now) = decision, before.isPinned {
                now.isPinned = true
                decision = .accepted(now)
            }
        }
        return decision
    }
}

/// Refuses every chain: for hosts that must not be talked to.
public struct RefusingEvaluator: TrustEvaluator {
    /// Makes an evaluator.
    public init() {}

    /// Refuses.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        .refused(TrustRefusal(.hostRefused, "\(trust.host): the policy has no rule for this host.", trust: trust))
    }
}

/// Accepts every chain, whoever presents it: anyone on the way can read and change what is sent.
public struct InsecureAcceptAnyCertificateEvaluator: TrustEvaluator {
    /// Makes an evaluator.
    public init() {}

    /// Accepts.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let pins = trust.presentedChain.prefix(ChainVerifier.maximumCertificates)
            .compactMap { X509Handle(der: $0)?.pin }
        return .accepted(VerifiedTrust(chain: trust.presentedChain, pins: pins, isPinned: false))
    }
}
