public import FoundationEssentials

/// A report about a chain that was refused, or would have been.
///
/// ``json()`` uses the property names as keys. ``pinValidationJSON()`` has the format of RFC 7469, 3.
public struct TrustReport: Sendable, Hashable, Codable {
    /// The time of the evaluation.
    public var date: Date
    /// The requested host.
    public var host: String
    /// The requested port.
    public var port: Int
    /// The pattern of the rule that applied; nil for hosts without a rule.
    public var pattern: String?
    /// Whether the connection was refused; false for a finding that is not enforced.
    public var isEnforced: Bool
    /// The name of the ``TrustRefusal/Reason-swift.struct``.
    public var reason: String
    /// A sentence with the event and its remedy.
    public var message: String
    /// OpenSSL's `X509_V_ERR_…` code, if OpenSSL gave the reason.
    public var verifyCode: Int32?
    /// The certificate that caused the refusal.
    public var certificate: CertificateSummary?
    /// The pins of the chain, leaf first.
    public var seenPins: [PublicKeyPin]
    /// The policy's pins.
    public var wantedPins: [PublicKeyPin]
    /// When the policy's pins expire, if they do.
    public var pinsExpire: Date?
    /// The certificates as the server sent them, in PEM.
    public var servedChain: [String]
    /// The verified chain from leaf to anchor in PEM; empty if none was verified.
    public var verifiedChain: [String]

    /// Creates a report of a refusal.
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
        // Bounds the size of reports that a server can cause.
        servedChain = trust.presentedChain.prefix(Self.longestChain).filter { $0.count <= Self.largestCertificate }
            .map(PEM.text)
        verifiedChain = refusal.verifiedChain.map(PEM.text)
    }

    private static let longestChain = 16
    private static let largestCertificate = 65_536

    /// Encodes the report in JSON with sorted keys and dates in the format of RFC 3339.
    public func json() throws -> Data { try ReportCoding.encoder.encode(self) }
}

/// The encoder of reports.
enum ReportCoding {
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}

extension PEM {
    /// The text of a certificate (RFC 7468, 5).
    static func text(_ der: Data) -> String {
        let base64 = Array(der.base64EncodedString().utf8)
        let lines = stride(from: 0, to: base64.count, by: 64).map { start in
            String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self)
        }
        return (["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
    }
}

/// A report in the format of RFC 7469, 3, for collectors that support it.
struct PinValidationReport: Sendable, Hashable, Codable {
    /// The time of the evaluation.
    var dateTime: Date
    /// The requested host.
    var hostname: String
    /// The port.
    var port: Int
    /// When the pins expire; omitted if they do not.
    var effectiveExpirationDate: Date?
    /// Whether the rule also applies to names below ``notedHostname``.
    var includeSubdomains: Bool
    /// The host of the rule without its wildcard, or the requested host if no rule applied.
    var notedHostname: String
    /// The certificates as the server sent them, in PEM.
    var servedCertificateChain: [String]
    /// The verified chain in PEM; empty if none was verified.
    var validatedCertificateChain: [String]
    /// The policy's pins in the form `pin-sha256="BASE64"`.
    var knownPins: [String]

    private enum CodingKeys: String, CodingKey {
        case dateTime = "date-time"
        case hostname
        case port
        case effectiveExpirationDate = "effective-expiration-date"
        case includeSubdomains = "include-subdomains"
        case notedHostname = "noted-hostname"
        case servedCertificateChain = "served-certificate-chain"
        case validatedCertificateChain = "validated-certificate-chain"
        case knownPins = "known-pins"
    }

    /// Encodes the report in JSON with dates in the format of RFC 3339.
    func json() throws -> Data { try ReportCoding.encoder.encode(self) }
}

extension TrustReport {
    /// Encodes the report in JSON in the format of RFC 7469, 3.
    public func pinValidationJSON() throws -> Data { try pinValidationReport.json() }

    /// The report in the format of RFC 7469, 3.
    var pinValidationReport: PinValidationReport {
        let noted = pattern.map { $0.drop { $0 == "*" || $0 == "." } }
        return PinValidationReport(
            dateTime: date, hostname: host, port: port, effectiveExpirationDate: pinsExpire,
            includeSubdomains: pattern?.hasPrefix("*") ?? false, notedHostname: noted.map { String($0) } ?? host,
            servedCertificateChain: servedChain, validatedCertificateChain: verifiedChain,
            knownPins: wantedPins.map { "pin-sha256=\"\($0.digest.base64EncodedString())\"" })
    }
}
