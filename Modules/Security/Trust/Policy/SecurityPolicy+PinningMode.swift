extension SecurityPolicy {
    /// Makes a policy for every host with the semantics of AFNetworking's `AFSecurityPolicy`.
    ///
    /// ```swift
    /// let pinned = try X509Certificate.all(inDirectory: "/usr/share/app/Pins")
    /// let policy = try SecurityPolicy.pinning(mode: .publicKey, certificates: pinned)
    /// ```
    ///
    /// The decisions are the same, except where AFNetworking would accept any server:
    /// - A pinning mode without certificates throws here instead of refusing every server later, and so does `.none`
    ///   with `allowInvalidCertificates` and `validatesDomainName`.
    /// - `.publicKey` with `allowInvalidCertificates` requires no trusted authority, but checks the dates and, unless
    ///   disabled, the host. A pinned key counts only if it belongs to the leaf or signed the certificates below it.
    ///
    /// - Parameters:
    ///   - mode: The object of the comparison.
    ///   - certificates: The pinned certificates. `.none` ignores them.
    ///   - allowInvalidCertificates: Whether to accept a chain that does not lead to an anchor, such as a self-signed
    ///     certificate. With `.none`, any certificate is accepted, as with ``insecureAcceptAnyCertificate``. The
    ///     default is false.
    ///   - validatesDomainName: Whether the certificate has to match the host. The default is true.
    ///   - anchors: The anchors for valid chains. The default is the system's store.
    ///
    /// - Throws: ``SecurityError/Code/noPins``; ``SecurityError/Code/unenforceablePolicy`` for `.none` with both
    ///   `allowInvalidCertificates` and `validatesDomainName`, which leaves nothing to check.
    package static func pinning(
        mode: PinningMode, certificates: [X509Certificate] = [], allowInvalidCertificates: Bool = false,
        validatesDomainName: Bool = true, anchors: TrustAnchors = .system
    ) throws(SecurityError) -> SecurityPolicy {
        .everyHost(
            StandardTrustEvaluator(
                evaluator: try PinningModeEvaluator(
                    mode, certificates, allowsInvalid: allowInvalidCertificates, validatesHost: validatesDomainName,
                    anchors: anchors)))
    }

    /// The object of the comparison for hosts without a rule; nil if it is unknown, for example for a custom evaluator.
    package var pinningMode: PinningMode? { otherHosts.settings?.pinningMode }

    /// The pinned certificates for hosts without a rule.
    package var pinnedCertificates: [X509Certificate] { otherHosts.settings?.pinnedCertificates ?? [] }

    /// Whether a chain that leads to no anchor is accepted for hosts without a rule; false if that is unknown.
    package var allowInvalidCertificates: Bool { otherHosts.settings?.allowInvalidCertificates ?? false }

    /// Whether the certificate has to match the host, for hosts without a rule; false if that is unknown.
    package var validatesDomainName: Bool { otherHosts.settings?.validatesDomainName ?? false }
}

/// The object of the comparison with the pinned certificates: AFNetworking's three modes.
public enum PinningMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nothing is pinned; the system's anchors decide.
    case none
    /// Certificates are compared byte for byte, and are the only anchors.
    case certificate
    /// Public keys are compared.
    case publicKey
}

/// Evaluates with the semantics of AFNetworking's `AFSecurityPolicy`.
struct PinningModeEvaluator: TrustEvaluator {
    let mode: PinningMode
    let certificates: [X509Certificate]
    let allowsInvalid: Bool
    let validatesHost: Bool
    let anchors: TrustAnchors
    private let evaluator: any TrustEvaluator

    init(
        _ mode: PinningMode, _ certificates: [X509Certificate], allowsInvalid: Bool, validatesHost: Bool,
        anchors: TrustAnchors
    ) throws(SecurityError) {
        self.mode = mode
        self.certificates = certificates
        self.allowsInvalid = allowsInvalid
        self.validatesHost = validatesHost
        self.anchors = anchors
        let unpinned = StandardTrustEvaluator.systemTrust(anchors: anchors, validatesHost: validatesHost)
        switch mode {
        case .none where allowsInvalid:
            guard !validatesHost else { throw Self.nothingToCheck }
            evaluator = .insecureAcceptAnyCertificate
        case .none:
            evaluator = unpinned
        case .certificate:
            let pinned = try StandardTrustEvaluator.certificatePins(certificates, validatesHost: validatesHost)
            evaluator = if allowsInvalid { pinned } else { StandardTrustEvaluator.allOf(unpinned, pinned) }
        case .publicKey:
            let pins = certificates.map(\.publicKeyPin)
            let pinned = try StandardTrustEvaluator.pins(pins, anchors: anchors, validatesHost: validatesHost)
            evaluator =
                if allowsInvalid { PresentedKeyEvaluator(pins: pins, validatesHost: validatesHost) } else { pinned }
        }
    }

    private static var nothingToCheck: SecurityError {
        SecurityError(
            .unenforceablePolicy,
            "The host of an invalid certificate cannot be checked when nothing is pinned; pin a certificate or a key.")
    }

    var isPinning: Bool { evaluator.isPinning }
    var allowsCleartext: Bool { evaluator.allowsCleartext }

    func evaluate(_ trust: ServerTrust) async -> TrustDecision { await evaluator.evaluate(trust) }
}
