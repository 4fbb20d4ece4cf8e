public import FoundationEssentials

/// What a person needs to know a certificate by.
public struct CertificateSummary: Sendable, Hashable, Codable {
    /// The subject, as RFC 2253 writes names.
    public var subject: String
    /// The issuer, as RFC 2253 writes names.
    public var issuer: String
    /// The serial number in hexadecimal.
    public var serialNumber: String
    /// The first moment at which it is valid.
    public var notBefore: Date
    /// The last moment at which it is valid.
    public var notAfter: Date
    /// The pin of its public key.
    public var publicKeyPin: PublicKeyPin

    init(_ handle: X509Handle) {
        subject = handle.subject
        issuer = handle.issuer
        serialNumber = handle.serialNumber
        notBefore = handle.notBefore
        notAfter = handle.notAfter
        publicKeyPin = handle.pin
    }
}
