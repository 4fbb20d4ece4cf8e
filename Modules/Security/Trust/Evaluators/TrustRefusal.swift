public import FoundationEssentials

/// Why a chain was refused.
public struct TrustRefusal: Error, Sendable, CustomStringConvertible {
    /// The kind of reason. New ones may be added.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The reason's name.
        public let description: String

        /// Creates a reason for a custom evaluator.
        public init(_ description: String) { self.description = description }

        /// The server presented no certificate.
        public static let noCertificate = Reason("noCertificate")
        /// A presented certificate cannot be parsed, or the chain is too long.
        public static let malformedCertificate = Reason("malformedCertificate")
        /// The chain does not lead to an anchor.
        public static let unknownAuthority = Reason("unknownAuthority")
        /// The certificate is self-signed and is not an anchor.
        public static let selfSigned = Reason("selfSigned")
        /// A certificate has expired.
        public static let expired = Reason("expired")
        /// A certificate is not yet valid.
        public static let notYetValid = Reason("notYetValid")
        /// The certificate is for other hosts (RFC 9525).
        public static let hostnameMismatch = Reason("hostnameMismatch")
        /// A certificate's purposes do not allow its use.
        public static let invalidPurpose = Reason("invalidPurpose")
        /// A key or a signature is too weak.
        public static let weakSecurity = Reason("weakSecurity")
        /// A certificate was revoked.
        public static let revoked = Reason("revoked")
        /// The chain is invalid for another reason; ``TrustRefusal/verifyCode`` says which.
        public static let chainInvalid = Reason("chainInvalid")
        /// No pin matched.
        public static let pinMismatch = Reason("pinMismatch")
        /// The pins have expired, and the policy refuses connections from then on.
        public static let pinsExpired = Reason("pinsExpired")
        /// The chain is valid, and the app refused it.
        public static let refusedByApp = Reason("refusedByApp")
        /// The policy refuses this host.
        public static let hostRefused = Reason("hostRefused")
        /// The anchors could not be loaded.
        public static let anchorsUnavailable = Reason("anchorsUnavailable")
        /// OpenSSL failed unexpectedly.
        public static let internalFailure = Reason("internalFailure")
    }

    /// The kind of reason.
    public var reason: Reason
    /// A sentence with the refusal and its remedy.
    public var message: String
    /// The requested host.
    public var host: String
    /// The requested port.
    public var port: Int
    /// OpenSSL's `X509_V_ERR_…` code, if OpenSSL gave the reason.
    public var verifyCode: Int32?
    /// The certificate that the reason is about.
    public var certificate: CertificateSummary?
    /// The pins of the verified chain, leaf first, or of the presented chain if none was verified.
    public var seenPins: [PublicKeyPin]
    /// The policy's pins.
    public var wantedPins: [PublicKeyPin]
    /// The chain that was verified before it was refused, from leaf to anchor, in DER; empty if none was.
    public var verifiedChain: [Data] = []
    /// When the policy's pins expire, if they do.
    public var pinsExpire: Date?

    /// Creates a refusal.
    public init(
        _ reason: Reason, _ message: String, trust: ServerTrust, verifyCode: Int32? = nil,
        certificate: CertificateSummary? = nil, seenPins: [PublicKeyPin] = [], wantedPins: [PublicKeyPin] = []
    ) {
        self.reason = reason
        self.message = message
        host = trust.host
        port = trust.port
        self.verifyCode = verifyCode
        self.certificate = certificate
        self.seenPins = seenPins
        self.wantedPins = wantedPins
    }

    /// The message.
    public var description: String { message }
}

extension TrustRefusal: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }

    /// The refusal with the leaf and the pins of the presented chain, unless the evaluator set them.
    func completed(by trust: ServerTrust) -> TrustRefusal {
        guard seenPins.isEmpty || certificate == nil, let chain = try? ChainVerifier.parse(trust) else { return self }
        var refusal = self
        if seenPins.isEmpty { refusal.seenPins = chain.map(\.pin) }
        if certificate == nil { refusal.certificate = chain.first.map { CertificateSummary($0) } }
        return refusal
    }
}
