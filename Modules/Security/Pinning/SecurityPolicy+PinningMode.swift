extension SecurityPolicy {
    /// Makes a policy for every host with the semantics of AFNetworking's `AFSecurityPolicy`.
    ///
    /// ```swift
    /// let pinned = try Certificate.all(inDirectory: "/usr/share/app/Pins")
    /// let policy = try SecurityPolicy.pinning(mode: .publicKey, certificates: pinned)
    /// ```
    ///
    /// The decisions are the same except for those that would accept any server:
    /// - A pinning mode without certificates throws here instead of refusing every server later, and so does `.none`
    ///   with `allowInvalidCertificates` and `validatesDomainName`.
    /// - `.publicKey` with `allowInvalidCertificates` requires no trusted authority, but checks the dates and, unless
    ///   disabled, the host. A pinned key counts only if it belongs to the leaf or signed the certificates below it.
    ///
    /// - Parameters:
    ///   - mode: What is compared.
    ///   - certificates: The pinned certificates. `.none` ignores them.
    ///   - allowInvalidCertificates: Whether to accept a chain that does not lead to an anchor, such as a self-signed
    ///     certificate. With `.none`, any certificate is accepted, as with ``insecureAcceptAnyCertificate``. The
    ///     default is false.
    ///   - validatesDomainName: Whether the certificate has to match the host. The default is true.
    ///   - anchors: The anchors for valid chains. The default is the system's store.
    ///
    /// - Throws: ``SecurityError/Code/noPins``; ``SecurityError/Code/unenforceablePolicy`` for `.none` with both
    ///   `allowInvalidCertificates` and `validatesDomainName`, which leaves nothing to check.
    public static func pinning(
        mode: PinningMode, certificates: [Certificate] = [], allowInvalidCertificates: Bool = false,
        validatesDomainName: Bool = true, anchors: TrustAnchors = .system
    ) throws(SecurityError) -> SecurityPolicy {
        switch mode {
        case .none:
            try unpinned(allowInvalidCertificates, validatesDomainName, anchors)
        case .certificate:
            try certificatePinning(certificates, allowInvalidCertificates, validatesDomainName, anchors)
        case .publicKey:
            try keyPinning(certificates, allowInvalidCertificates, validatesDomainName, anchors)
        }
    }

    private static func unpinned(
        _ allowsInvalid: Bool, _ validatesHost: Bool, _ anchors: TrustAnchors
    ) throws(SecurityError) -> SecurityPolicy {
        guard allowsInvalid else {
            return .everyHost(.systemTrust(anchors: anchors, validatesHost: validatesHost))
        }
        guard !validatesHost else {
            throw SecurityError(
                .unenforceablePolicy,
                "The host of an invalid certificate cannot be checked when nothing is pinned; pin a certificate or a key."
            )
        }
        return .insecureAcceptAnyCertificate
    }

    private static func certificatePinning(
        _ certificates: [Certificate], _ allowsInvalid: Bool, _ validatesHost: Bool, _ anchors: TrustAnchors
    ) throws(SecurityError) -> SecurityPolicy {
        let pinned = try StandardTrustEvaluator.certificatePins(certificates, validatesHost: validatesHost)
        guard !allowsInvalid else { return .everyHost(pinned) }
        return .everyHost(.allOf(.systemTrust(anchors: anchors, validatesHost: validatesHost), pinned))
    }

    private static func keyPinning(
        _ certificates: [Certificate], _ allowsInvalid: Bool, _ validatesHost: Bool, _ anchors: TrustAnchors
    ) throws(SecurityError) -> SecurityPolicy {
        let pins = certificates.map(\.publicKeyPin)
        let verified = try StandardTrustEvaluator.pins(pins, anchors: anchors, validatesHost: validatesHost)
        guard allowsInvalid else { return .everyHost(verified) }
        return .everyHost(PresentedKeyEvaluator(pins: pins, validatesHost: validatesHost))
    }
}

/// What is compared with the pinned certificates: AFNetworking's three modes.
public enum PinningMode: String, Sendable, Hashable, CaseIterable {
    /// Nothing is pinned; the system's anchors decide.
    case none
    /// Certificates are compared byte for byte, and are the only anchors.
    case certificate
    /// Public keys are compared.
    case publicKey
}
