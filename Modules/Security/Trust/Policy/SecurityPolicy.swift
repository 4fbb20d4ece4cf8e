internal import LinnetMessages
internal import Synchronization

/// Decides which servers are trusted, by host.
///
/// ```swift
/// let pinned = try SecurityPolicy.publicKeyPins([PublicKeyPin("sha256/…"), backup])
///
/// let policy = try SecurityPolicy(
///     rules: [HostRule("**.example.com", .pins([pin, backup]))])
/// ```
///
/// The most specific rule for a host applies, in the order of ``HostPattern``. ``otherHosts`` evaluates hosts without a
/// rule; by default it is the system's store. The rule also decides whether clear text, `http`, may be sent to the host
/// (``allowsCleartext(to:)``).
public struct SecurityPolicy: Sendable {
    /// Distinguishes policies; copies have the same identity. Connections made under one policy are never used under
    /// another.
    public struct Identity: Hashable, Sendable {
        let number: UInt64

        private static let last = Atomic<UInt64>(0)

        static func next() -> Identity {
            Identity(number: last.add(1, ordering: .relaxed).newValue)
        }
    }

    /// Distinguishes this policy from others.
    public private(set) var identity: Identity
    /// The rules, most specific first.
    public let rules: [HostRule]
    /// The evaluator for hosts without a rule.
    public let otherHosts: any TrustEvaluator
    /// Whether the policy pins any host.
    public let isPinning: Bool
    /// Whether clear text is allowed for every host, so that no rule has to be looked up.
    private let allowsCleartext: Bool
    /// Whether a TLS session (RFC 8446, 2.2) may be resumed based on this policy's decision when the session was
    /// opened, as long as that decision is valid (``VerifiedTrust/validUntil``), and for at most a day.
    ///
    /// The default is true. If false, every connection presents its chain and is evaluated. Changing this property
    /// makes it another policy with a new ``identity``.
    public var allowsSessionResumption = true {
        didSet { if allowsSessionResumption != oldValue { identity = .next() } }
    }
    /// Receives refusals and findings; nil by default.
    public private(set) var reporter: TrustReporter?

    /// Creates a policy.
    ///
    /// - Throws: ``SecurityError/Code/duplicateRule`` when two rules have the same pattern.
    public init(
        rules: [HostRule], otherHosts: any TrustEvaluator = .systemTrust
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

    /// Returns a copy with a new identity that reports each refusal and each finding to a reporter.
    public func reporting(to reporter: TrustReporter) -> SecurityPolicy {
        var policy = self
        policy.reporter = reporter
        policy.identity = .next()
        return policy
    }

    /// The system's anchors for every host.
    public static let systemTrust = SecurityPolicy([], .systemTrust)

    /// Makes a policy that uses these anchors for every host instead of the system's.
    ///
    /// The policy does not distinguish hosts, so it allows clear text to all of them, as ``systemTrust`` does. A rule
    /// with such anchors, and ``everyHost(_:)``, do not (``allowsCleartext(to:)``).
    public static func systemTrust(anchors: TrustAnchors) -> SecurityPolicy {
        SecurityPolicy([], StandardTrustEvaluator.systemTrust(anchors: anchors).insecureAllowingCleartext())
    }

    /// Makes a policy with one evaluator for every host.
    public static func everyHost(_ evaluator: any TrustEvaluator) -> SecurityPolicy {
        SecurityPolicy([], evaluator)
    }

    /// Makes a policy that requires one of these keys in the verified chain of every host.
    ///
    /// - Throws: ``SecurityError/Code/noPins`` without a key.
    public static func publicKeyPins(
        _ pins: [PublicKeyPin], anchors: TrustAnchors = .system
    ) throws(SecurityError) -> SecurityPolicy {
        SecurityPolicy([], try .pins(pins, anchors: anchors))
    }

    /// Makes a policy that requires one of these certificates in the verified chain of every host. If `anchors` is nil,
    /// the certificates are the only anchors.
    ///
    /// - Throws: ``SecurityError/Code/noPins`` without a certificate.
    public static func certificatePins(
        _ certificates: [X509Certificate], anchors: TrustAnchors? = nil
    ) throws(SecurityError) -> SecurityPolicy {
        SecurityPolicy([], try .certificatePins(certificates, anchors: anchors))
    }

    /// Accepts any certificate from every host, so that the connection can be intercepted. For experiments only.
    public static let insecureAcceptAnyCertificate = SecurityPolicy([], .insecureAcceptAnyCertificate)

    /// Returns the most specific rule for a host, or nil if ``otherHosts`` applies.
    public func rule(for host: String) -> HostRule? {
        guard let host = HostName(host) else { return nil }
        return rules.first { $0.pattern.matches(host) }
    }

    /// Returns the evaluator of the most specific rule for a host, or ``otherHosts``.
    public func evaluator(for host: String) -> any TrustEvaluator {
        rule(for: host)?.evaluator ?? otherHosts
    }

    /// Evaluates a chain.
    ///
    /// A refusal contains the leaf and the presented pins even if a custom evaluator omits them. If the policy has
    /// rules, a host that is neither an ASCII name nor an address is refused, since no rule would match it.
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
            // The policy is asked again, and reports the findings then.
            guard !(trust.awaitsStaple && verified.awaitsStaple) else { return }
            for finding in verified.findings {
                reporter.report(TrustReport(finding.completed(by: trust), trust, pattern: pattern, isEnforced: false))
            }
        }
    }

    /// Whether requests in clear text, `http`, may be sent to a host.
    ///
    /// The rule for the host or ``otherHosts`` decides by ``TrustEvaluator/allowsCleartext``: the system's store allows
    /// it; refusing and pinning evaluators, other anchors, and custom evaluators do not. A host that is neither an
    /// ASCII name nor an address is refused if any rule refuses clear text. `HTTPTransport` asks before it uses a
    /// connection, and fails with `cleartextRefused`.
    public func allowsCleartext(to host: String) -> Bool {
        allowsCleartext || (HostName(host) != nil && evaluator(for: host).allowsCleartext)
    }

    /// Whether the policy pins a host.
    public func isPinning(host: String) -> Bool { evaluator(for: host).isPinning }
}

/// An evaluator for the hosts of a pattern.
public struct HostRule: Sendable {
    /// The hosts.
    public let pattern: HostPattern
    /// The evaluator for these hosts.
    public let evaluator: any TrustEvaluator

    /// Creates a rule.
    public init(_ pattern: HostPattern, _ evaluator: any TrustEvaluator) {
        self.pattern = pattern
        self.evaluator = evaluator
    }

    /// Creates a rule from the text of a pattern.
    ///
    /// - Throws: ``SecurityError/Code/invalidPattern``.
    public init(_ pattern: String, _ evaluator: any TrustEvaluator) throws(SecurityError) {
        self.init(try HostPattern(pattern), evaluator)
    }
}
