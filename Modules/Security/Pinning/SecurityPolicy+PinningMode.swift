extension SecurityPolicy {
    /// AFNetworking's `AFSecurityPolicy`, for every host.
    ///
    /// ```swift
    /// let pinned = try Certificate.all(inDirectory: "/usr/share/app/Pins")
    /// let policy = try SecurityPolicy.pinning(mode: .publicKey, certificates: pinned)
    /// ```
    ///
    /// Its decision table is kept, but for the rows that let anybody in:
    /// - No pinned certificate in a mode that pins, and an invalid certificate with a host to check and nothing pinned, throw
    ///   here instead of refusing every server later.
    /// - `.publicKey` with `allowInvalidCertificates` needs no authority, but checks the dates and, unless that is turned off,
    ///   the host; and a pinned key counts only where it is the leaf's or has signed what is below it.
    ///
    /// - Parameters:
    ///   - mode: What is compared.
    ///   - certificates: The pinned ones. `.none` does not look at them.
    ///   - allowInvalidCertificates: Whether a chain may be trusted that leads to no anchor, such as a certificate that signed
    ///     itself. With `.none` it accepts whoever answers, as ``insecureAcceptAnyCertificate`` does. The default is false.
    ///   - validatesDomainName: Whether the certificate has to be for the host. The default is true.
    ///   - anchors: Where a chain may end that has to be valid. The default is the system's store.
    ///
    /// Fails with ``SecurityError/Code/noPins``, and with ``SecurityError/Code/unenforceablePolicy`` when nothing is left that
    /// could be checked: `.none`, with `allowInvalidCertificates`, and with `validatesDomainName`.
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
            return .everyHost(SystemTrustEvaluator(anchors: anchors, validatesHost: validatesHost))
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
        let pinned = try CertificatePinEvaluator(certificates, validatesHost: validatesHost)
        guard !allowsInvalid else { return .everyHost(pinned) }
        return .everyHost(.allOf(SystemTrustEvaluator(anchors: anchors, validatesHost: validatesHost), pinned))
    }

    private static func keyPinning(
        _ certificates: [Certificate], _ allowsInvalid: Bool, _ validatesHost: Bool, _ anchors: TrustAnchors
    ) throws(SecurityError) -> SecurityPolicy {
        let pins = certificates.map(\.publicKeyPin)
        let verified = try PublicKeyPinEvaluator(pins, anchors: anchors, validatesHost: validatesHost)
        guard allowsInvalid else { return .everyHost(verified) }
        return .everyHost(PresentedKeyEvaluator(pins: pins, validatesHost: validatesHost))
    }
}
