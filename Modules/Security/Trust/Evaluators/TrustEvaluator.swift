public import FoundationEssentials

/// Evaluates a server's certificate chain.
///
/// An evaluation may take time: the handshake waits for it, off the event loop, under the TLS timeout.
public protocol TrustEvaluator: Sendable {
    /// Evaluates a chain. A chain that cannot be evaluated is refused.
    func evaluate(_ trust: ServerTrust) async -> TrustDecision

    /// Whether a chain is accepted only if one of the evaluator's pins matches. The default is false.
    var isPinning: Bool { get }

    /// Whether requests in clear text, `http`, may be sent to the hosts that this evaluator is for.
    ///
    /// An evaluator that narrows trust is worth nothing if a request can bypass it without TLS. The default is
    /// therefore false; the evaluators of this module return true only if they trust at least as much as
    /// ``TrustEvaluator/systemTrust``. ``insecureAllowingCleartext()`` makes an exception.
    var allowsCleartext: Bool { get }
}

extension TrustEvaluator {
    /// False.
    public var isPinning: Bool { false }

    /// False.
    public var allowsCleartext: Bool { false }
}

/// The input to a trust evaluation: the chain that a server presented, and the host and port that it must be valid for.
public struct ServerTrust: Sendable {
    /// The requested host: a name or an IP address without brackets.
    public var host: String
    /// The port.
    public var port: Int
    /// The presented certificates in DER, leaf first.
    public var presentedChain: [Data]
    /// The OCSP response that the server stapled (RFC 6066, 8), if any.
    public var stapledOCSPResponse: Data?
    /// Whether a stapled response may still arrive: in TLS 1.2 it follows the chain, and the policy is asked again once
    /// it is there. Until then, neither a promise to staple (RFC 7633) nor a policy that requires revocation
    /// information refuses the chain. The default is false.
    public var awaitsStaple = false
    /// The time at which the chain has to be valid.
    public var time: Date

    /// Creates the input to an evaluation.
    public init(
        host: String, port: Int, presentedChain: [Data], stapledOCSPResponse: Data? = nil, time: Date = Date()
    ) {
        self.host = host
        self.port = port
        self.presentedChain = presentedChain
        self.stapledOCSPResponse = stapledOCSPResponse
        self.time = time
    }
}

/// The result of evaluating a server's chain.
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

    /// The refusal, or nil if the chain is accepted.
    public var refusal: TrustRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    /// Returns the decision with its refusal changed, if it is one.
    func refusal(_ change: (inout TrustRefusal) -> Void) -> TrustDecision {
        guard case .refused(var refusal) = self else { return self }
        change(&refusal)
        return .refused(refusal)
    }
}

/// A chain that a policy accepted.
public struct VerifiedTrust: Sendable {
    /// The chain in DER from the leaf to the anchor, or the presented chain if none was verified.
    public var chain: [Data]
    /// The pins of the chain's keys, leaf first.
    public var pins: [PublicKeyPin]
    /// Whether a pin of the policy matched.
    public var isPinned: Bool
    /// The end of the decision's validity: the earliest expiry of a certificate of the chain, or of revocation
    /// information for the decision. Nil if it cannot be known in advance; a TLS session that was opened on such a
    /// decision is not resumed.
    public var validUntil: Date?
    /// Refusals that are not enforced: the findings of a report-only evaluator, and an anchor that violates
    /// ``ChainRule/flawedAnchor`` under a profile without that rule.
    public var findings: [TrustRefusal] = []
    /// Whether the policy must be asked again before a byte is sent to the server, if a stapled response may still
    /// arrive (``ServerTrust/awaitsStaple``). True if the chain was accepted only for that reason, and for values from
    /// custom evaluators, because their dependencies are unknown.
    public package(set) var awaitsStaple = false
    /// Whether OpenSSL verified the chain up to an anchor; otherwise the chain is the presented one.
    package let isAnchored: Bool
    /// Whether the certificate was found to match the host (RFC 9525). False for values made by custom evaluators,
    /// since it is not known of them.
    package internal(set) var isHostValidated = false

    /// Creates a verified chain, for custom evaluators.
    ///
    /// ``awaitsStaple`` is true. To keep the properties of another evaluator's result, change a copy of it instead.
    ///
    /// - Parameters:
    ///   - chain: The verified chain, the leaf first, in DER.
    ///   - pins: The pins of the chain's keys.
    ///   - isPinned: Whether a pin was required and found.
    ///   - validUntil: Until when the decision stays the same. The default is nil: evaluate each handshake.
    public init(chain: [Data], pins: [PublicKeyPin], isPinned: Bool, validUntil: Date? = nil) {
        self.chain = chain
        self.pins = pins
        self.isPinned = isPinned
        self.validUntil = validUntil
        isAnchored = false
        awaitsStaple = true
    }

    init(_ chain: VerifiedChain, isPinned: Bool) {
        self.init(chain.certificates, isPinned: isPinned, isAnchored: true)
        isHostValidated = chain.isHostValidated
        awaitsStaple = chain.revocation.awaitsStaple
        findings = chain.findings
        if let validUntil, let until = chain.revocation.holdsUntil { self.validUntil = min(validUntil, until) }
    }

    init(_ chain: [X509Handle], isPinned: Bool, isAnchored: Bool) {
        self.chain = chain.map(\.der)
        pins = chain.map(\.pin)
        self.isPinned = isPinned
        self.isAnchored = isAnchored
        validUntil = chain.map(\.notAfter).min()
    }
}
