internal import Synchronization

/// Who is trusted, host by host.
///
/// ```swift
/// let pinned = try SecurityPolicy.publicKeyPins([PublicKeyPin("sha256/…"), backup])
///
/// let policy = try SecurityPolicy(
///     rules: [HostRule("**.example.com", PublicKeyPinEvaluator([pin, backup]))],
///     otherHosts: SystemTrustEvaluator())
/// ```
///
/// The most specific rule for a host decides alone; ``HostPattern`` says which that is. Hosts without a rule are judged by
/// ``otherHosts``: the system's store unless something else is given, such as ``TrustEvaluator/refuse``. The rule also says
/// whether clear text, `http`, may go to the host (``allowsCleartext(to:)``).
public struct SecurityPolicy: Sendable {
    /// Tells policies apart; copies of one have the same. Connections made under one identity never serve another.
    public struct Identity: Hashable, Sendable {
        let number: UInt64

        private static let last = Atomic<UInt64>(0)

        static func next() -> Identity {
            Identity(number: last.add(1, ordering: .relaxed).newValue)
        }
    }

    /// Tells this policy from others.
    public private(set) var identity: Identity
    /// The rules, most specific first.
    public let rules: [HostRule]
    /// Judges the hosts that no rule is for.
    public let otherHosts: any TrustEvaluator
    /// Whether it pins a host.
    public let isPinning: Bool
    /// Whether clear text may go to every host: then none has to be looked up.
    private let allowsCleartext: Bool
    /// Whether a TLS session (RFC 8446, 2.2) may be resumed on a verdict that this policy gave when the session was
    /// opened, as long as that verdict holds (``VerifiedTrust/validUntil``), and for a day at most.
    ///
    /// The default is true. False makes every connection present its chain and be judged. A copy in which this was
    /// changed is another policy, with an ``identity`` of its own.
    public var allowsSessionResumption = true {
        didSet { if allowsSessionResumption != oldValue { identity = .next() } }
    }
    /// Who is told of refusals and findings; nil for nobody.
    public private(set) var reporter: TrustReporter?

    /// Makes a policy.
    ///
    /// Fails with ``SecurityError/Code/duplicateRule`` when two rules have the same pattern.
    public init(
        rules: [HostRule], otherHosts: any TrustEvaluator = SystemTrustEvaluator()
    ) throws(SecurityError) {
        var patterns: Set<HostPattern> = []
        for rule in rules where !patterns.insert(rule.pattern).inserted {
            throw SecurityError(.duplicateRule, "There are two rules for \"\(rule.pattern)\".")
        }
        self.init(rules, otherHosts)
    }

    private init(_ rules: [HostRule], _ otherHosts: any TrustEvaluator) {
        identity = .next()
        self.rules = rules.sorted { $0.pattern.specificity > $1.pattern.specificity }
        self.otherHosts = otherHosts
        isPinning = otherHosts.isPinning || rules.contains { $0.evaluator.isPinning }
        allowsCleartext = otherHosts.allowsCleartext && rules.allSatisfy { $0.evaluator.allowsCleartext }
    }

    /// The same policy, of another identity, that tells a reporter of each refusal and of each finding of a
    /// ``ReportOnlyEvaluator``.
    public func reporting(to reporter: TrustReporter) -> SecurityPolicy {
        var policy = self
        policy.reporter = reporter
        policy.identity = .next()
        return policy
    }

    /// The system's store for every host.
    public static let systemTrust = SecurityPolicy([], SystemTrustEvaluator())

    /// These anchors for every host. Where the system's are not among them, no clear text may go to any
    /// (``allowsCleartext(to:)``).
    public static func systemTrust(anchors: TrustAnchors) -> SecurityPolicy {
        SecurityPolicy([], SystemTrustEvaluator(anchors: anchors))
    }

    /// One evaluator for every host.
    public static func everyHost(_ evaluator: any TrustEvaluator) -> SecurityPolicy {
        SecurityPolicy([], evaluator)
    }

    /// These keys for every host, in chains that verify.
    ///
    /// Fails with ``SecurityError/Code/noPins`` when there is none.
    public static func publicKeyPins(
        _ pins: [PublicKeyPin], anchors: TrustAnchors = .system
    ) throws(SecurityError) -> SecurityPolicy {
        SecurityPolicy([], try PublicKeyPinEvaluator(pins, anchors: anchors))
    }

    /// These certificates for every host, in chains that verify; without anchors, in chains that end at one of them.
    ///
    /// Fails with ``SecurityError/Code/noPins`` when there is none.
    public static func certificatePins(
        _ certificates: [Certificate], anchors: TrustAnchors? = nil
    ) throws(SecurityError) -> SecurityPolicy {
        SecurityPolicy([], try CertificatePinEvaluator(certificates, anchors: anchors))
    }

    /// Any certificate for every host: anyone on the way can read and change what is sent. For experiments alone.
    public static let insecureAcceptAnyCertificate = SecurityPolicy([], InsecureAcceptAnyCertificateEvaluator())

    /// The most specific rule for a host; nil where ``otherHosts`` judges.
    public func rule(for host: String) -> HostRule? {
        guard let host = HostName(host) else { return nil }
        return rules.first { $0.pattern.matches(host) }
    }

    /// The evaluator of the most specific rule for a host; ``otherHosts`` where there is none.
    public func evaluator(for host: String) -> any TrustEvaluator {
        rule(for: host)?.evaluator ?? otherHosts
    }

    /// The verdict on a chain.
    ///
    /// A refusal names the leaf and the pins that were seen, also where an evaluator of one's own left them out. Where there
    /// are rules, a host that is no name in ASCII and no address is refused, since it would slip past them all.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision {
        let decision = await verdict(trust).refusal { $0 = $0.completed(by: trust) }
        if let reporter { report(decision, on: trust, to: reporter) }
        return decision
    }

    private func verdict(_ trust: ServerTrust) async -> TrustDecision {
        guard rules.isEmpty || HostName(trust.host) != nil else {
            return .refused(.unusableHost(.hostRefused, trust))
        }
        return await evaluator(for: trust.host).evaluate(trust)
    }

    private func report(_ decision: TrustDecision, on trust: ServerTrust, to reporter: TrustReporter) {
        let pattern = rule(for: trust.host)?.pattern
        switch decision {
        case .refused(let refusal):
            reporter.report(TrustReport(refusal, trust, pattern: pattern, isEnforced: true))
        case .accepted(let verified):
            // The question will be asked again, and then the findings are told.
            guard !(trust.awaitsStaple && verified.awaitsStaple) else { return }
            for finding in verified.findings {
                reporter.report(TrustReport(finding.completed(by: trust), trust, pattern: pattern, isEnforced: false))
            }
        }
    }

    /// Whether a request in clear text, `http`, may go to a host.
    ///
    /// The rule for the host decides, or ``otherHosts``, by ``TrustEvaluator/allowsCleartext``: refusing, pinning, other
    /// anchors than the system's and evaluators of one's own say no, the system's store says yes. A host that is no name in
    /// ASCII and no address gets none where any rule refuses it. `HTTPTransport` asks before it takes or opens a
    /// connection, and fails with `cleartextRefused`.
    public func allowsCleartext(to host: String) -> Bool {
        allowsCleartext || (HostName(host) != nil && evaluator(for: host).allowsCleartext)
    }

    /// Whether it pins this host.
    public func isPinning(host: String) -> Bool { evaluator(for: host).isPinning }
}
