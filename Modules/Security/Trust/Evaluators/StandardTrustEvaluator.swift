/// An evaluator of this module, made by one of the factories of ``TrustEvaluator``.
///
/// ```swift
/// let policy = try SecurityPolicy(
///     rules: [HostRule("**.example.com", .pins([pin, backup]))],
///     otherHosts: .systemTrust)
/// ```
public struct StandardTrustEvaluator: TrustEvaluator {
    let evaluator: any TrustEvaluator

    /// Whether a chain is accepted only if one of the evaluator's pins matches.
    public var isPinning: Bool { evaluator.isPinning }

    /// Whether requests in clear text may be sent to the hosts that this evaluator is for.
    public var allowsCleartext: Bool { evaluator.allowsCleartext }

    /// Evaluates a chain.
    public func evaluate(_ trust: ServerTrust) async -> TrustDecision { await evaluator.evaluate(trust) }
}

// MARK: Anchors

extension TrustEvaluator where Self == StandardTrustEvaluator {
    /// Accepts chains that verify up to one of the system's anchors and match the host, like browsers.
    public static var systemTrust: StandardTrustEvaluator { systemTrust() }

    /// Accepts chains that verify up to an anchor and match the host.
    ///
    /// Allows clear text if the anchors include the system's and revocation information is not required
    /// (``RevocationOptions/Failure``).
    ///
    /// - Parameters:
    ///   - anchors: The anchors that a chain may end at. The default is the system's.
    ///   - validatesHost: Whether the certificate has to match the host (RFC 9525). The default is true.
    ///   - profile: How strictly the chain is evaluated. The default is ``ChainProfile/default``.
    public static func systemTrust(
        anchors: TrustAnchors = .system, validatesHost: Bool = true, profile: ChainProfile = .default
    ) -> StandardTrustEvaluator {
        let verifier = ChainVerifier(anchors: anchors, validatesHost: validatesHost, profile: profile)
        return StandardTrustEvaluator(evaluator: AnchorEvaluator(verifier: verifier))
    }

    /// Accepts chains that verify up to one of these certificates and match the host.
    ///
    /// - Throws: ``SecurityError/Code/noAnchors`` if there is no certificate.
    public static func onlyAnchors(_ certificates: [X509Certificate]) throws(SecurityError) -> StandardTrustEvaluator {
        systemTrust(anchors: try .certificates(certificates))
    }

    /// Accepts chains that verify up to one of the system's anchors or these certificates and match the host.
    ///
    /// - Throws: ``SecurityError/Code/noAnchors`` if there is no certificate.
    public static func additionalAnchors(
        _ certificates: [X509Certificate]
    ) throws(SecurityError) -> StandardTrustEvaluator {
        systemTrust(anchors: try TrustAnchors.system.adding(certificates))
    }
}

// MARK: Pins

extension TrustEvaluator where Self == StandardTrustEvaluator {
    /// Accepts chains that verify and contain a pinned key.
    ///
    /// Pins are compared with the *verified* chain: a certificate that the server presents outside of that chain does
    /// not count.
    ///
    /// - Parameters:
    ///   - pins: The keys, one of which must be in the chain. Include a backup key.
    ///   - anchors: The anchors that a chain may end at. The default is the system's.
    ///   - validatesHost: Whether the certificate has to match the host. The default is true.
    ///   - position: The certificates that are compared. The default is any of the verified chain.
    ///   - profile: How strictly the chain is evaluated. The default is ``ChainProfile/default``.
    /// - Throws: ``SecurityError/Code/noPins`` if there is no pin.
    public static func pins(
        _ pins: [PublicKeyPin], anchors: TrustAnchors = .system, validatesHost: Bool = true,
        position: PinSet.Position = .anyInVerifiedChain, profile: ChainProfile = .default
    ) throws(SecurityError) -> StandardTrustEvaluator {
        let verifier = ChainVerifier(anchors: anchors, validatesHost: validatesHost, profile: profile)
        return StandardTrustEvaluator(
            evaluator: try PublicKeyPinEvaluator(pins, verifier: verifier, position: position))
    }

    /// Accepts chains that verify and, until the set expires, contain a key of the set.
    ///
    /// ``ServerTrust/time`` determines whether the set has expired. The evaluator counts as pinning also after that.
    ///
    /// - Parameters:
    ///   - set: The keys and their expiry.
    ///   - anchors: The anchors that a chain may end at. The default is the system's.
    ///   - validatesHost: Whether the certificate has to match the host. The default is true.
    ///   - profile: How strictly the chain is evaluated. The default is ``ChainProfile/default``.
    /// - Throws: ``SecurityError/Code/noPins`` if the set is empty.
    public static func pins(
        _ set: PinSet, anchors: TrustAnchors = .system, validatesHost: Bool = true, profile: ChainProfile = .default
    ) throws(SecurityError) -> StandardTrustEvaluator {
        let verifier = ChainVerifier(anchors: anchors, validatesHost: validatesHost, profile: profile)
        return StandardTrustEvaluator(evaluator: try PinSetEvaluator(set, verifier: verifier))
    }

    /// Accepts chains that verify and contain a pinned certificate, compared byte for byte.
    ///
    /// By default the pinned certificates are the only anchors, as in AFNetworking's certificate mode: a pinned
    /// self-signed certificate is accepted if it is valid and matches the host.
    ///
    /// - Parameters:
    ///   - certificates: The certificates, one of which must be in the verified chain.
    ///   - anchors: The anchors that a chain may end at; nil, the default, means the pinned certificates.
    ///   - validatesHost: Whether the certificate has to match the host. The default is true.
    ///   - position: The certificates that are compared. The default is any of the verified chain.
    ///   - profile: How strictly the chain is evaluated. The default is ``ChainProfile/default``.
    /// - Throws: ``SecurityError/Code/noPins`` if there is no certificate.
    public static func certificatePins(
        _ certificates: [X509Certificate], anchors: TrustAnchors? = nil, validatesHost: Bool = true,
        position: PinSet.Position = .anyInVerifiedChain, profile: ChainProfile = .default
    ) throws(SecurityError) -> StandardTrustEvaluator {
        guard !certificates.isEmpty else {
            throw SecurityError(.noPins, "A pinning policy needs at least one certificate.")
        }
        let anchors = if let anchors { anchors } else { try TrustAnchors.certificates(certificates) }
        let verifier = ChainVerifier(anchors: anchors, validatesHost: validatesHost, profile: profile)
        return StandardTrustEvaluator(
            evaluator: CertificatePinEvaluator(certificates, verifier: verifier, position: position))
    }
}

// MARK: Combinations

extension TrustEvaluator where Self == StandardTrustEvaluator {
    /// Accepts chains that all evaluators accept.
    ///
    /// The evaluators are asked in order, and the first refusal is the result. The result counts as pinned if one of
    /// them matched a pin. Its chain is the one with the pin, or else the first one that was verified up to an anchor,
    /// or else the first one. It is valid as long as all results are, and contains the ``VerifiedTrust/findings`` of
    /// all.
    public static func allOf(
        _ first: any TrustEvaluator, _ others: any TrustEvaluator...
    ) -> StandardTrustEvaluator {
        StandardTrustEvaluator(evaluator: AllOfEvaluator(first: first, others: others))
    }

    /// Accepts chains that one of the evaluators accepts.
    ///
    /// They are asked in order, and the first acceptance is the result. If all refuse, the result is the first refusal,
    /// with the reasons of the others in its message and the pins of all in ``TrustRefusal/wantedPins``. The evaluator
    /// counts as pinning if each of them does.
    public static func anyOf(
        _ first: any TrustEvaluator, _ others: any TrustEvaluator...
    ) -> StandardTrustEvaluator {
        StandardTrustEvaluator(evaluator: AnyOfEvaluator(first: first, others: others))
    }

    /// Enforces one evaluator and reports the refusals of another, to try out a stricter policy.
    ///
    /// If the enforced evaluator accepts, refusals of the observed one are added to ``VerifiedTrust/findings``, which
    /// the policy passes to its ``TrustReporter``. Resumed TLS sessions are not evaluated or reported again.
    ///
    /// ```swift
    /// let rule = try HostRule("**.example.com", .reportOnly(.pins(pins)))
    /// ```
    ///
    /// - Parameters:
    ///   - observed: The evaluator whose refusals are only reported.
    ///   - enforced: The evaluator whose decisions are enforced. The default is ``systemTrust``.
    public static func reportOnly(
        _ observed: any TrustEvaluator, enforcing enforced: any TrustEvaluator = .systemTrust
    ) -> StandardTrustEvaluator {
        StandardTrustEvaluator(evaluator: ReportOnlyEvaluator(observed: observed, enforced: enforced))
    }

    /// Lets the app refuse chains that an evaluator accepts. The app cannot accept chains that the evaluator refuses.
    ///
    /// The app is asked in each handshake, since its answer may change: TLS sessions are not resumed.
    ///
    /// ```swift
    /// .accepting(.systemTrust) { trust, verified in
    ///     await blocklist.contains(verified.pins) ? "The key is on the blocklist." : nil
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - evaluator: The evaluator that is asked first.
    ///   - reason: Returns why an accepted chain is refused, with ``TrustRefusal/Reason/refusedByApp``, or nil to
    ///     accept it. It may take time, under the TLS timeout, and does not run on an event loop.
    public static func accepting(
        _ evaluator: any TrustEvaluator,
        unless reason: @escaping @Sendable (_ trust: ServerTrust, _ verified: VerifiedTrust) async -> String?
    ) -> StandardTrustEvaluator {
        StandardTrustEvaluator(evaluator: AppRefusalEvaluator(evaluator: evaluator, reason: reason))
    }
}

// MARK: Without verification

extension TrustEvaluator where Self == StandardTrustEvaluator {
    /// Checks that the presented leaf matches the host (RFC 9525), and nothing else; for use in ``allOf(_:_:)``.
    public static var hostname: StandardTrustEvaluator { StandardTrustEvaluator(evaluator: HostnameEvaluator()) }

    /// Refuses every chain with ``TrustRefusal/Reason/hostRefused``.
    public static var refuse: StandardTrustEvaluator { StandardTrustEvaluator(evaluator: RefusingEvaluator()) }

    /// Accepts every chain, so that the connection can be intercepted. For experiments only.
    public static var insecureAcceptAnyCertificate: StandardTrustEvaluator {
        StandardTrustEvaluator(evaluator: InsecureEvaluator())
    }
}

extension TrustEvaluator {
    /// Returns the same evaluator for hosts that also accept requests in clear text.
    ///
    /// Anyone in transit can read and change data over `http`, and the evaluator checks nothing there; its decisions
    /// for `https` stay the same.
    public func insecureAllowingCleartext() -> some TrustEvaluator { CleartextEvaluator(evaluator: self) }
}

// MARK: Forms whose factories take other arguments

extension StandardTrustEvaluator {
    /// Makes an evaluator with the semantics of AFNetworking's `AFSecurityPolicy`.
    package static func pinningMode(
        _ mode: PinningMode, _ certificates: [X509Certificate], allowsInvalid: Bool, validatesHost: Bool,
        anchors: TrustAnchors
    ) throws(SecurityError) -> StandardTrustEvaluator {
        StandardTrustEvaluator(
            evaluator: try PinningModeEvaluator(
                mode, certificates, allowsInvalid: allowsInvalid, validatesHost: validatesHost, anchors: anchors))
    }

    /// Makes an evaluator of members, each of which has to accept a chain.
    package static func allOf(first: any TrustEvaluator, others: [any TrustEvaluator]) -> StandardTrustEvaluator {
        StandardTrustEvaluator(evaluator: AllOfEvaluator(first: first, others: others))
    }

    /// Makes an evaluator of members, one of which has to accept a chain.
    package static func anyOf(first: any TrustEvaluator, others: [any TrustEvaluator]) -> StandardTrustEvaluator {
        StandardTrustEvaluator(evaluator: AnyOfEvaluator(first: first, others: others))
    }
}
