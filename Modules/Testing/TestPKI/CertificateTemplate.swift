internal import COpenSSL
package import FoundationEssentials
package import LinnetSecurity

/// The fields of a certificate, for tests that need one with deliberate flaws. It is signed with a real key, so that it
/// has no other flaws.
package struct CertificateTemplate: Sendable {
    package struct Extension: Sendable {
        package var identifier: String
        package var isCritical: Bool
        package var value: [UInt8]

        package init(_ identifier: String, critical: Bool = false, _ value: [UInt8]) {
            self.identifier = identifier
            isCritical = critical
            self.value = value
        }

        /// The extension (RFC 5280, 4.1) in DER.
        package var der: [UInt8] {
            ASN1.sequence(ASN1.object(identifier), isCritical ? ASN1.yes : [], ASN1.octetString(value))
        }
    }

    /// The INTEGER in `version`; nil for version 1.
    package var version: UInt8? = 2
    package var serialNumber: [UInt8] = [0x01, 0x23, 0x45]
    package var issuer: [UInt8]?
    package var subject: [UInt8]
    package var notBefore: [UInt8]
    package var notAfter: [UInt8]
    /// The SubjectPublicKeyInfo; nil uses the generated key's.
    package var publicKey: [UInt8]?
    package var keyKind = TestPKI.KeyKind.p256
    /// The unique identifiers between the key and the extensions.
    package var uniqueIdentifiers: [UInt8] = []
    package var extensions: [Extension]
    /// The AlgorithmIdentifier; nil derives it from the signer's key and the digest.
    package var algorithm: [UInt8]?
    package var outerAlgorithm: [UInt8]?
    package var digest = "SHA256"

    /// A template for a server certificate.
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

    /// A template for the certificate of an authority.
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

    /// A time as UTCTime before 2050, as GeneralizedTime from then on.
    package static func time(daysFromNow days: Double) -> [UInt8] {
        let text = Date(timeIntervalSinceNow: days * 86_400).formatted(.iso8601).filter(\.isNumber)
        return text < "2050" ? ASN1.utcTime(text.dropFirst(2) + "Z") : ASN1.generalizedTime(text + "Z")
    }

    /// Changes or adds an extension. An empty value omits it.
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

/// A certificate that was created from a template, with its key.
package final class ForgedCertificate: Sendable {
    package let der: Data
    // SAFETY: not modified after its creation, and OpenSSL's reference count is atomic.
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

    /// The certificate as parsed by OpenSSL.
    package var certificate: X509Certificate {
        get throws { try X509Certificate(der: der) }
    }
}

/// Encodes DER (X.690), including values that a valid certificate does not contain.
package enum ASN1 {
    package static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        if content.count < 0x80 {
            length = [UInt8(content.count)]
        } else {
            var rest = content.count
            while rest > 0 {
                length.insert(UInt8(rest & 0xFF), at: 0)
                rest >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + content
    }

    package static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap { $0 }) }

    package static func sequence(of parts: [[UInt8]]) -> [UInt8] { value(0x30, parts.flatMap { $0 }) }

    /// An INTEGER with the given content octets.
    package static func integer(_ octets: [UInt8]) -> [UInt8] { value(0x02, octets) }

    package static func integer(_ number: UInt8) -> [UInt8] { value(0x02, number < 0x80 ? [number] : [0, number]) }

    /// A positive INTEGER: a zero octet is added when the first bit is set.
    package static func positive(_ octets: [UInt8]) -> [UInt8] {
        integer((octets.first ?? 0) < 0x80 ? octets : [0] + octets)
    }

    package static func bitString(_ octets: [UInt8], unused: UInt8 = 0) -> [UInt8] { value(0x03, [unused] + octets) }

    package static func octetString(_ octets: [UInt8]) -> [UInt8] { value(0x04, octets) }

    package static let null: [UInt8] = [0x05, 0x00]

    package static let yes: [UInt8] = [0x01, 0x01, 0xFF]

    /// An OBJECT IDENTIFIER from its dotted decimal form.
    package static func object(_ dotted: String) -> [UInt8] {
        let numbers = dotted.split(separator: ".").compactMap { UInt64($0) }
        guard numbers.count > 1 else { return value(0x06, []) }
        return value(0x06, ([numbers[0] * 40 + numbers[1]] + numbers.dropFirst(2)).flatMap(base128))
    }

    private static func base128(_ number: UInt64) -> [UInt8] {
        var octets = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            octets.insert(0x80 | UInt8(rest & 0x7F), at: 0)
            rest >>= 7
        }
        return octets
    }

    /// A Name with one common name; an empty Name for nil.
    package static func name(_ commonName: String?) -> [UInt8] {
        guard let commonName else { return sequence() }
        return sequence(value(0x31, sequence(object("2.5.4.3"), value(0x0C, Array(commonName.utf8)))))
    }

    package static func utcTime(_ text: String) -> [UInt8] { value(0x17, Array(text.utf8)) }

    package static func generalizedTime(_ text: String) -> [UInt8] { value(0x18, Array(text.utf8)) }

    /// A dNSName, which can contain any bytes.
    package static func host(_ text: String) -> [UInt8] { value(0x82, Array(text.utf8)) }

    package static func address(_ octets: [UInt8]) -> [UInt8] { value(0x87, octets) }
}
