public import FoundationEssentials

/// Why a chain was refused.
public struct TrustRefusal: Error, Sendable, CustomStringConvertible {
    /// The kind of reason. New ones may be added.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The reason's name.
        public let description: String

        /// A reason of one's own, for evaluators of one's own.
        public init(_ description: String) { self.description = description }

        /// The server presented no certificate.
        public static let noCertificate = Reason("noCertificate")
        /// A presented certificate cannot be parsed, or the chain is longer than any honest one.
        public static let malformedCertificate = Reason("malformedCertificate")
        /// The chain ends at no anchor.
        public static let unknownAuthority = Reason("unknownAuthority")
        /// The certificate is signed by itself, and no anchor.
        public static let selfSigned = Reason("selfSigned")
        /// A certificate's time is over.
        public static let expired = Reason("expired")
        /// A certificate's time has not come.
        public static let notYetValid = Reason("notYetValid")
        /// The certificate is for other hosts (RFC 9525).
        public static let hostnameMismatch = Reason("hostnameMismatch")
        /// A certificate must not be used for what it was used for.
        public static let invalidPurpose = Reason("invalidPurpose")
        /// A key or a signature is too weak.
        public static let weakSecurity = Reason("weakSecurity")
        /// A certificate was revoked.
        public static let revoked = Reason("revoked")
        /// The chain is not valid for another reason; the verify code tells which.
        public static let chainInvalid = Reason("chainInvalid")
        /// No pin matched.
        public static let pinMismatch = Reason("pinMismatch")
        /// The pins' time is over, and the policy refuses from then on.
        public static let pinsExpired = Reason("pinsExpired")
        /// The chain holds, and the app's own judgement refuses it.
        public static let refusedByApp = Reason("refusedByApp")
        /// The policy refuses this host.
        public static let hostRefused = Reason("hostRefused")
        /// The anchors could not be loaded.
        public static let anchorsUnavailable = Reason("anchorsUnavailable")
        /// OpenSSL failed where it should not.
        public static let internalFailure = Reason("internalFailure")
    }

    /// The kind of reason.
    public var reason: Reason
    /// One line that a person can act on.
    public var message: String
    /// The host that was asked for.
    public var host: String
    /// The port that was asked for.
    public var port: Int
    /// OpenSSL's `X509_V_ERR_…` number, where the reason came from there.
    public var verifyCode: Int32?
    /// The certificate that the reason is about.
    public var certificate: CertificateSummary?
    /// The pins of the chain, leaf first: of the verified one, or of the presented one where none was verified.
    public var seenPins: [PublicKeyPin]
    /// The pins that the policy wants.
    public var wantedPins: [PublicKeyPin]
    /// The chain that was verified before it was refused, from leaf to anchor, in DER; empty where none was.
    public var verifiedChain: [Data] = []
    /// When the policy's pins expire, if they do.
    public var pinsExpire: Date?

    /// Makes a refusal.
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

    /// The reason and the message.
    public var description: String { "\(reason): \(message)" }
}
