internal import COpenSSL
package import FoundationEssentials
package import LinnetSecurity

/// A certificate field by field, for tests that need one that no authority would issue. Signed by a real key, so that
/// nothing is wrong with it but what the test made so.
package struct CertificateTemplate {
    package struct Extension {
        package var identifier: String
        package var isCritical: Bool
        package var value: [UInt8]

        package init(_ identifier: String, critical: Bool = false, _ value: [UInt8]) {
            self.identifier = identifier
            isCritical = critical
            self.value = value
        }
    }

    /// The INTEGER in `version`; nil for version 1.
    package var version: UInt8? = 2
    package var serialNumber: [UInt8] = [0x01, 0x23, 0x45]
    package var issuer: [UInt8]?
    package var subject: [UInt8]
    package var notBefore: [UInt8]
    package var notAfter: [UInt8]
    /// SubjectPublicKeyInfo; nil for the generated key's.
    package var publicKey: [UInt8]?
    package var keyKind = TestPKI.KeyKind.p256
    /// What stands between the key and the extensions: unique identifiers.
    package var uniqueIdentifiers: [UInt8] = []
    package var extensions: [Extension]
    /// AlgorithmIdentifier; nil for the one that belongs to the signer's key and the digest.
    package var algorithm: [UInt8]?
    package var outerAlgorithm: [UInt8]?
    package var digest = "SHA256"

    /// A server's, for localhost.
    package static func server(hosts: [String] = ["localhost"]) -> CertificateTemplate {
        CertificateTemplate(
            subject: ASN1.name(hosts.first),
            extensions: [
                Extension("2.5.29.19", critical: true, ASN1.sequence()),
                Extension("2.5.29.15", critical: true, ASN1.bitString([0x80], unused: 7)),
                Extension("2.5.29.37", ASN1.sequence(ASN1.object("1.3.6.1.5.5.7.3.1"))),
                Extension("2.5.29.17", ASN1.sequence(of: hosts.map(ASN1.host))),
            ])
    }

    /// An authority's.
    package static func authority(_ name: String = "Forged Authority") -> CertificateTemplate {
        CertificateTemplate(
            subject: ASN1.name(name),
            extensions: [
                Extension("2.5.29.19", critical: true, ASN1.sequence(ASN1.yes)),
                Extension("2.5.29.15", critical: true, ASN1.bitString([0x06], unused: 1)),
            ])
    }

    private init(subject: [UInt8], extensions: [Extension]) {
        self.subject = subject
        self.extensions = extensions
        notBefore = Self.time(daysFromNow: -1)
        notAfter = Self.time(daysFromNow: 30)
    }

    /// UTCTime or GeneralizedTime, whichever is right then.
    package static func time(daysFromNow days: Double) -> [UInt8] {
        let text = Date(timeIntervalSinceNow: days * 86_400).formatted(.iso8601).filter(\.isNumber)
        return text < "2050" ? ASN1.utcTime(text.dropFirst(2) + "Z") : ASN1.generalizedTime(text + "Z")
    }

    /// Changes an extension, or leaves it out.
    package mutating func set(_ identifier: String, critical: Bool? = nil, _ value: [UInt8]? = nil) {
        guard let index = extensions.firstIndex(where: { $0.identifier == identifier }) else {
            extensions.append(Extension(identifier, critical: critical ?? false, value ?? []))
            return
        }
        if let critical { extensions[index].isCritical = critical }
        if let value { extensions[index].value = value }
    }

    package mutating func remove(_ identifier: String) {
        extensions.removeAll { $0.identifier == identifier }
    }
}

/// A certificate made from a template, with its key.
package final class ForgedCertificate: Sendable {
    package let der: Data
    // SAFETY: not changed after it was made, and OpenSSL counts references to it with atomics.
    nonisolated(unsafe) let key: OpaquePointer
    let subject: [UInt8]
    let keyIdentifier: [UInt8]

    init(der: Data, key: OpaquePointer, subject: [UInt8], keyIdentifier: [UInt8]) {
        self.der = der
        self.key = key
        self.subject = subject
        self.keyIdentifier = keyIdentifier
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// The certificate, as far as OpenSSL reads it.
    package var certificate: Certificate {
        get throws { try Certificate(der: der) }
    }
}
