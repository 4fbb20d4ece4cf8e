/// An OBJECT IDENTIFIER, stored as its octets.
struct ObjectIdentifier: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Dotted decimal notation.
    var description: String {
        var numbers: [UInt64] = []
        var number: UInt64 = 0
        for byte in bytes {
            guard number < 1 << 56 else { return "?" }
            number = number << 7 | UInt64(byte & 0x7F)
            guard byte & 0x80 == 0 else { continue }
            if numbers.isEmpty {
                let first = min(number / 40, 2)
                numbers = [first, number - first * 40]
            } else {
                numbers.append(number)
            }
            number = 0
        }
        return numbers.map(String.init).joined(separator: ".")
    }

    /// 2.5.29, the extensions of RFC 5280.
    private static func extensionType(_ number: UInt8) -> ObjectIdentifier { ObjectIdentifier([0x55, 0x1D, number]) }
    /// 1.3.6.1.5.5.7, PKIX.
    private static func pkix(_ arc: UInt8, _ number: UInt8) -> ObjectIdentifier {
        ObjectIdentifier([0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, arc, number])
    }

    static let subjectDirectoryAttributes = extensionType(9)
    static let subjectKeyIdentifier = extensionType(14)
    static let keyUsage = extensionType(15)
    static let subjectAlternativeName = extensionType(17)
    static let basicConstraints = extensionType(19)
    static let reasonCode = extensionType(21)
    static let issuingDistributionPoint = extensionType(28)
    static let nameConstraints = extensionType(30)
    static let distributionPoints = extensionType(31)
    static let certificatePolicies = extensionType(32)
    static let policyMappings = extensionType(33)
    static let authorityKeyIdentifier = extensionType(35)
    static let policyConstraints = extensionType(36)
    static let extendedKeyUsage = extensionType(37)
    static let freshestList = extensionType(46)
    static let inhibitAnyPolicy = extensionType(54)
    static let authorityInformationAccess = pkix(1, 1)
    static let subjectInformationAccess = pkix(1, 11)
    static let tlsFeature = pkix(1, 24)
    static let signedTimestamps = ObjectIdentifier([0x2B, 0x06, 0x01, 0x04, 0x01, 0xD6, 0x79, 0x02, 0x04, 0x02])
    static let netscapeType = ObjectIdentifier([0x60, 0x86, 0x48, 0x01, 0x86, 0xF8, 0x42, 0x01, 0x01])

    static let commonName = ObjectIdentifier([0x55, 0x04, 0x03])
    static let mailAddress = ObjectIdentifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01])
    static let sha1 = ObjectIdentifier([0x2B, 0x0E, 0x03, 0x02, 0x1A])
    static let md5 = ObjectIdentifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x05])

    static let serverAuthentication = pkix(3, 1)
    static let clientAuthentication = pkix(3, 2)
    static let codeSigning = pkix(3, 3)
    static let emailProtection = pkix(3, 4)
    static let timeStamping = pkix(3, 8)
    static let ocspSigning = pkix(3, 9)
    static let anyExtendedKeyUsage = ObjectIdentifier([0x55, 0x1D, 0x25, 0x00])

    static let rsaEncryption = ObjectIdentifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01])
    static let rsaPSS = ObjectIdentifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A])
    static let ecPublicKey = ObjectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01])
    static let p256 = ObjectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
    static let p384 = ObjectIdentifier([0x2B, 0x81, 0x04, 0x00, 0x22])
    static let p521 = ObjectIdentifier([0x2B, 0x81, 0x04, 0x00, 0x23])
    static let ed25519 = ObjectIdentifier([0x2B, 0x65, 0x70])
    static let ed448 = ObjectIdentifier([0x2B, 0x65, 0x71])
}
