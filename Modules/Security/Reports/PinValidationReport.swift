public import FoundationEssentials

/// A report in the shape that RFC 7469, 3, gives it, for collectors that know that.
public struct PinValidationReport: Sendable, Hashable, Codable {
    /// The moment at which the pins were looked for.
    public var dateTime: Date
    /// The host that was asked for.
    public var hostname: String
    /// The port.
    public var port: Int
    /// When the pins expire; left out where they do not.
    public var effectiveExpirationDate: Date?
    /// Whether the rule is for names below ``notedHostname``, too.
    public var includeSubdomains: Bool
    /// The host of the rule, without its wildcard; the host that was asked for where no rule judged.
    public var notedHostname: String
    /// The certificates as the server sent them, in PEM.
    public var servedCertificateChain: [String]
    /// The chain that was verified, in PEM; empty where none was.
    public var validatedCertificateChain: [String]
    /// The pins that are wanted, as `pin-sha256="BASE64"`.
    public var knownPins: [String]

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

    /// The report in JSON, its dates as RFC 3339 writes them.
    public func json() throws -> Data { try ReportCoding.encoder.encode(self) }
}

extension TrustReport {
    /// The report in the shape of RFC 7469, 3.
    public var pinValidationReport: PinValidationReport {
        let noted = pattern.map { $0.drop { $0 == "*" || $0 == "." } }
        return PinValidationReport(
            dateTime: date, hostname: host, port: port, effectiveExpirationDate: pinsExpire,
            includeSubdomains: pattern?.hasPrefix("*") ?? false, notedHostname: noted.map { String($0) } ?? host,
            servedCertificateChain: servedChain, validatedCertificateChain: verifiedChain,
            knownPins: wantedPins.map { "pin-sha256=\"\($0.digest.base64EncodedString())\"" })
    }
}
