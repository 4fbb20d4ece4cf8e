public import FoundationEssentials
internal import LinnetMessages

/// An X.509 certificate (RFC 5280).
public struct X509Certificate: Sendable {
    let handle: X509Handle
    /// The certificate in DER.
    public let derBytes: Data

    /// Parses a certificate in DER.
    ///
    /// - Throws: ``SecurityError/Code/invalidCertificate``.
    public init(der: Data) throws(SecurityError) {
        guard let handle = X509Handle(der: der) else {
            throw SecurityError(.invalidCertificate, "These \(der.count) bytes are not an X.509 certificate in DER.")
        }
        self.init(handle)
    }

    /// Parses the first certificate of a PEM text.
    ///
    /// - Throws: ``SecurityError/Code/invalidCertificate``.
    public init(pem: String) throws(SecurityError) {
        let all = try X509Certificate.all(pem: Data(pem.utf8))
        self = all[0]
    }

    init(_ handle: X509Handle) {
        self.handle = handle
        derBytes = handle.der
    }

    /// Reads all certificates of a PEM text, in order; at least one.
    ///
    /// - Throws: ``SecurityError/Code/invalidCertificate`` if there is none, or if one cannot be read.
    public static func all(pem: Data) throws(SecurityError) -> [X509Certificate] {
        guard let handles = PEM.certificates(pem), !handles.isEmpty else {
            throw SecurityError(
                .invalidCertificate, "The text contains no PEM certificate, or one that cannot be read.")
        }
        return handles.map { X509Certificate($0) }
    }

    /// Reads all certificates of a file, in PEM or DER.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile`` or ``SecurityError/Code/invalidCertificate``.
    public static func all(contentsOfFile path: String) throws(SecurityError) -> [X509Certificate] {
        let data = try FileBytes.read(path)
        return try FileBytes.naming(path) { () throws(SecurityError) in try all(data: data) }
    }

    /// The certificate in PEM.
    package var pemText: String { PEM.text(derBytes, label: "CERTIFICATE") }

    /// The violation of ``ChainRule/flawedAnchor`` by an authority's certificate; nil without one, and for a server's.
    package var authorityFlaw: String? {
        let isServers = handle.facts?.known.alternativeNames?.contains(where: \.isForHost) ?? false
        return isServers ? nil : handle.anchorFlaw
    }

    /// The subject in RFC 2253 notation.
    public var subject: String { handle.subject }
    /// The issuer in RFC 2253 notation.
    public var issuer: String { handle.issuer }
    /// The serial number in hexadecimal.
    public var serialNumber: String { handle.serialNumber }
    /// When the certificate becomes valid.
    public var notBefore: Date { handle.notBefore }
    /// The last second at which the certificate is valid.
    public var notAfter: Date { handle.notAfter }
    /// The pin of the public key.
    public var publicKeyPin: PublicKeyPin { handle.pin }
    /// The SubjectPublicKeyInfo (RFC 5280, 4.1.2.7) in DER.
    public var subjectPublicKeyInfo: Data { handle.subjectPublicKeyInfo }
    /// Whether the certificate requires the server to staple an OCSP response (RFC 7633).
    public var promisesStaple: Bool { handle.promisesStaple }
    /// The fields that identify the certificate to a person.
    public var summary: CertificateSummary { CertificateSummary(handle) }
}

extension X509Certificate: Hashable {
    /// Whether two certificates have the same bytes.
    public static func == (left: X509Certificate, right: X509Certificate) -> Bool { left.derBytes == right.derBytes }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(derBytes) }
}

extension X509Certificate {
    /// The file name extensions that ``all(inDirectory:)`` reads.
    public static let fileExtensions = ["cer", "crt", "der", "pem"]

    /// Reads all certificates of PEM or DER bytes; at least one.
    ///
    /// - Throws: ``SecurityError/Code/invalidCertificate``.
    public static func all(data: Data) throws(SecurityError) -> [X509Certificate] {
        PEM.isPEM(data) ? try all(pem: data) : [try X509Certificate(der: data)]
    }

    /// Reads all certificates of the files in a directory that end in `.cer`, `.crt`, `.der` or `.pem`, in the order of
    /// their names. Subdirectories are not read.
    ///
    /// To read certificates from a SwiftPM bundle, pass its path: `Certificate.all(inDirectory:
    /// Bundle.module.bundlePath + "/Pins")`. This module does not take a `Bundle`, since that would link all of
    /// Foundation.
    ///
    /// - Throws: ``SecurityError/Code/cannotReadFile``; ``SecurityError/Code/invalidCertificate`` if one of the files
    ///   is not a certificate; ``SecurityError/Code/noPins`` if there is no such file.
    public static func all(inDirectory path: String) throws(SecurityError) -> [X509Certificate] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw SecurityError(.cannotReadFile, "\"\(path.oneLine)\" is not a readable directory.")
        }
        let files = names.filter { name in
            fileExtensions.contains { name.lowercased().hasSuffix("." + $0) }
        }
        guard !files.isEmpty else {
            throw SecurityError(.noPins, "\"\(path.oneLine)\" contains no file that ends in .cer, .crt, .der or .pem.")
        }
        var all: [X509Certificate] = []
        for file in files.sorted() { all += try X509Certificate.all(contentsOfFile: path + "/" + file) }
        return all
    }
}

/// The fields that identify a certificate to a person.
public struct CertificateSummary: Sendable, Hashable, Codable {
    /// The subject in RFC 2253 notation.
    public var subject: String
    /// The issuer in RFC 2253 notation.
    public var issuer: String
    /// The serial number in hexadecimal.
    public var serialNumber: String
    /// When the certificate becomes valid.
    public var notBefore: Date
    /// The last second at which the certificate is valid.
    public var notAfter: Date
    /// The pin of the public key.
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
