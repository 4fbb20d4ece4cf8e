public import FoundationEssentials

/// An X.509 certificate (RFC 5280).
public struct Certificate: Sendable {
    let handle: X509Handle
    /// The certificate's bytes.
    public let derBytes: Data

    /// Parses DER.
    ///
    /// Fails with ``SecurityError/Code/invalidCertificate``.
    public init(der: Data) throws(SecurityError) {
        guard let handle = X509Handle(der: der) else {
            throw SecurityError(.invalidCertificate, "These \(der.count) bytes are no X.509 certificate in DER.")
        }
        self.init(handle)
    }

    /// Parses the first certificate of a PEM text.
    ///
    /// Fails with ``SecurityError/Code/invalidCertificate``.
    public init(pem: String) throws(SecurityError) {
        let all = try Certificate.all(pem: Data(pem.utf8))
        self = all[0]
    }

    init(_ handle: X509Handle) {
        self.handle = handle
        derBytes = handle.der
    }

    /// All certificates of a PEM text, in order; at least one.
    ///
    /// Fails with ``SecurityError/Code/invalidCertificate`` when there is none, or when one cannot be read.
    public static func all(pem: Data) throws(SecurityError) -> [Certificate] {
        guard let handles = PEM.certificates(pem), !handles.isEmpty else {
            throw SecurityError(.invalidCertificate, "The text has no certificate in PEM, or one that cannot be read.")
        }
        return handles.map { Certificate($0) }
    }

    /// All certificates of a file, in PEM or DER.
    ///
    /// Fails with ``SecurityError/Code/cannotReadFile`` or ``SecurityError/Code/invalidCertificate``.
    public static func all(contentsOfFile path: String) throws(SecurityError) -> [Certificate] {
        let data = try FileBytes.read(path)
        return PEM.isPEM(data) ? try all(pem: data) : [try Certificate(der: data)]
    }

    /// The subject, as RFC 2253 writes names.
    public var subject: String { handle.subject }
    /// The issuer, as RFC 2253 writes names.
    public var issuer: String { handle.issuer }
    /// The serial number in hexadecimal.
    public var serialNumber: String { handle.serialNumber }
    /// The first moment at which it is valid.
    public var notBefore: Date { handle.notBefore }
    /// The last moment at which it is valid.
    public var notAfter: Date { handle.notAfter }
    /// The pin of its public key.
    public var publicKeyPin: PublicKeyPin { handle.pin }
    /// The SubjectPublicKeyInfo (RFC 5280, 4.1.2.7) in DER.
    public var subjectPublicKeyInfo: Data { handle.subjectPublicKeyInfo }
    /// Whether it promises that the server staples an OCSP response (RFC 7633).
    public var promisesStaple: Bool { handle.promisesStaple }
    /// What a person needs to know it by.
    public var summary: CertificateSummary { CertificateSummary(handle) }
}

extension Certificate: Hashable {
    /// Whether two certificates have the same bytes.
    public static func == (left: Certificate, right: Certificate) -> Bool { left.derBytes == right.derBytes }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(derBytes) }
}
