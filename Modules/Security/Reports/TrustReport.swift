public import FoundationEssentials

/// What an observer is told of a chain that was refused, or would have been.
///
/// Its JSON, ``json()``, has the names of its properties. ``pinValidationReport`` is the same in the shape of RFC 7469, 3.
public struct TrustReport: Sendable, Hashable, Codable {
    /// The moment at which the chain was to be valid.
    public var date: Date
    /// The host that was asked for.
    public var host: String
    /// The port that was asked for.
    public var port: Int
    /// The pattern of the rule that judged; nil for hosts without a rule.
    public var pattern: String?
    /// Whether the connection was refused; false for a finding of a ``ReportOnlyEvaluator``.
    public var isEnforced: Bool
    /// The name of the ``TrustRefusal/Reason-swift.struct``.
    public var reason: String
    /// One line that a person can act on.
    public var message: String
    /// OpenSSL's `X509_V_ERR_…` number, where the reason came from there.
    public var verifyCode: Int32?
    /// The certificate that the reason is about.
    public var certificate: CertificateSummary?
    /// The pins of the chain, leaf first.
    public var seenPins: [PublicKeyPin]
    /// The pins that the policy wants.
    public var wantedPins: [PublicKeyPin]
    /// When the policy's pins expire, if they do.
    public var pinsExpire: Date?
    /// The certificates as the server sent them, in PEM.
    public var servedChain: [String]
    /// The chain that was verified, from leaf to anchor, in PEM; empty where none was.
    public var verifiedChain: [String]

    /// Makes a report of a refusal.
    public init(_ refusal: TrustRefusal, _ trust: ServerTrust, pattern: HostPattern? = nil, isEnforced: Bool) {
        date = trust.time
        host = trust.host
        port = trust.port
        self.pattern = pattern?.description
        self.isEnforced = isEnforced
        reason = refusal.reason.description
        message = refusal.message
        verifyCode = refusal.verifyCode
        certificate = refusal.certificate
        seenPins = refusal.seenPins
        wantedPins = refusal.wantedPins
        pinsExpire = refusal.pinsExpire
        // A server that sends more than any honest one does not fill a disk with reports.
        servedChain = trust.presentedChain.prefix(Self.longestChain).filter { $0.count <= Self.largestCertificate }
            .map(PEM.text)
        verifiedChain = refusal.verifiedChain.map(PEM.text)
    }

    private static let longestChain = 16
    private static let largestCertificate = 65_536

    /// The report in JSON, its keys sorted, its dates as RFC 3339 writes them.
    public func json() throws -> Data { try ReportCoding.encoder.encode(self) }
}

/// How reports are written.
enum ReportCoding {
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}

extension PEM {
    /// A certificate's text (RFC 7468, 5).
    static func text(_ der: Data) -> String {
        let base64 = Array(der.base64EncodedString().utf8)
        let lines = stride(from: 0, to: base64.count, by: 64).map { start in
            String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self)
        }
        return (["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
    }
}
