import LinnetTesting

@testable import LinnetSecurity

/// The fields of a certificate as DER, or as bytes that a valid certificate does not contain. Its signature is none, so
/// it is for the reader of fields alone.
struct UnsignedCertificate {
    static let ecdsaSHA256 = ASN1.sequence(ASN1.object("1.2.840.10045.4.3.2"))

    /// The version with its tag; empty for version 1.
    var version = ASN1.value(0xA0, ASN1.integer(2))
    var serialNumber = ASN1.integer(1)
    var algorithm = Self.ecdsaSHA256
    var issuer = ASN1.name("Authority")
    var validity = ASN1.sequence(ASN1.utcTime("250101000000Z"), ASN1.utcTime("490101000000Z"))
    var subject = ASN1.name("Server")
    var publicKey = Self.key("1.2.840.10045.2.1", ASN1.object("1.2.840.10045.3.1.7"))
    var uniqueIdentifiers: [UInt8] = []
    /// The extensions with their tag.
    var extensions: [UInt8] = []
    /// Values behind the last field, within the signed part and beside the signature.
    var (signedRest, rest): ([UInt8], [UInt8]) = ([], [])

    var der: [UInt8] {
        let signed = ASN1.sequence(
            version, serialNumber, algorithm, issuer, validity, subject, publicKey, uniqueIdentifiers, extensions,
            signedRest)
        return ASN1.sequence(signed, algorithm, ASN1.bitString([1, 2, 3]), rest)
    }

    var facts: CertificateFacts {
        get throws { try CertificateFacts(der: der) }
    }

    /// A SubjectPublicKeyInfo.
    static func key(_ algorithm: String, _ parameters: [UInt8] = [], _ key: [UInt8] = [4]) -> [UInt8] {
        ASN1.sequence(ASN1.sequence(ASN1.object(algorithm), parameters), ASN1.bitString(key))
    }

    static func rsa(_ modulus: [UInt8], _ exponent: [UInt8] = [1, 0, 1]) -> [UInt8] {
        key("1.2.840.113549.1.1.1", ASN1.null, ASN1.sequence(ASN1.positive(modulus), ASN1.positive(exponent)))
    }

    /// Replaces the extensions.
    mutating func extend(_ own: [CertificateTemplate.Extension]) {
        extensions = ASN1.value(0xA3, ASN1.sequence(of: own.map(\.der)))
    }
}

extension ObjectIdentifier {
    /// An identifier in its dotted decimal form.
    init(dotted: String) { self.init(Array(ASN1.object(dotted).dropFirst(2))) }
}
