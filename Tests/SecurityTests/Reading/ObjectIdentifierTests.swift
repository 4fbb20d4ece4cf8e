import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Object identifiers have the numbers that their standards assign.
@Suite("Object identifiers", .timeLimit(.minutes(1)))
struct ObjectIdentifierTests {
    @Test(
        arguments: [
            // RFC 5280, 4.2.1 and 4.2.2; RFC 7633; RFC 6962; Netscape's type.
            (.subjectDirectoryAttributes, "2.5.29.9"), (.subjectKeyIdentifier, "2.5.29.14"), (.keyUsage, "2.5.29.15"),
            (.subjectAlternativeName, "2.5.29.17"), (.basicConstraints, "2.5.29.19"), (.reasonCode, "2.5.29.21"),
            (.issuingDistributionPoint, "2.5.29.28"), (.nameConstraints, "2.5.29.30"),
            (.distributionPoints, "2.5.29.31"), (.certificatePolicies, "2.5.29.32"), (.policyMappings, "2.5.29.33"),
            (.authorityKeyIdentifier, "2.5.29.35"), (.policyConstraints, "2.5.29.36"),
            (.extendedKeyUsage, "2.5.29.37"), (.freshestList, "2.5.29.46"), (.inhibitAnyPolicy, "2.5.29.54"),
            (.authorityInformationAccess, "1.3.6.1.5.5.7.1.1"), (.subjectInformationAccess, "1.3.6.1.5.5.7.1.11"),
            (.tlsFeature, "1.3.6.1.5.5.7.1.24"), (.signedTimestamps, "1.3.6.1.4.1.11129.2.4.2"),
            (.netscapeType, "2.16.840.1.113730.1.1"),
            // Attributes and digests (RFC 5280, appendix A; RFC 8017, appendix B.1).
            (.commonName, "2.5.4.3"), (.mailAddress, "1.2.840.113549.1.9.1"), (.sha1, "1.3.14.3.2.26"),
            (.md5, "1.2.840.113549.2.5"),
            // Purposes (RFC 5280, 4.2.1.12; RFC 6960, 4.2.2.2).
            (.serverAuthentication, "1.3.6.1.5.5.7.3.1"), (.clientAuthentication, "1.3.6.1.5.5.7.3.2"),
            (.codeSigning, "1.3.6.1.5.5.7.3.3"), (.emailProtection, "1.3.6.1.5.5.7.3.4"),
            (.timeStamping, "1.3.6.1.5.5.7.3.8"), (.ocspSigning, "1.3.6.1.5.5.7.3.9"),
            (.anyExtendedKeyUsage, "2.5.29.37.0"),
            // Keys (RFC 8017, RFC 4055, RFC 5480, RFC 8410).
            (.rsaEncryption, "1.2.840.113549.1.1.1"), (.rsaPSS, "1.2.840.113549.1.1.10"),
            (.ecPublicKey, "1.2.840.10045.2.1"), (.p256, "1.2.840.10045.3.1.7"), (.p384, "1.3.132.0.34"),
            (.p521, "1.3.132.0.35"), (.ed25519, "1.3.101.112"), (.ed448, "1.3.101.113"),
        ] as [(ObjectIdentifier, String)])
    func identifierHasItsNumber(identifier: ObjectIdentifier, dotted: String) {
        #expect(identifier == ObjectIdentifier(dotted: dotted))
        #expect(identifier.description == dotted)
    }

    /// The first octet is for two numbers, of which the first is 0, 1 or 2 (X.690, 8.19.4).
    @Test(arguments: ["0.0", "0.39", "1.0", "1.39.5", "2.0", "2.39", "2.40", "2.47.1", "2.48", "2.999.3", "1.2.128"])
    func textIsTheDottedForm(dotted: String) {
        #expect(ObjectIdentifier(dotted: dotted).description == dotted)
    }

    /// A number of 64 bits or more is not shown.
    @Test(
        arguments: [
            ([0x2A] + [UInt8](repeating: 0xFF, count: 8) + [0x7F], "1.2.9223372036854775807"),
            ([0x2A, 0x81] + [UInt8](repeating: 0x80, count: 8) + [0x00], "?"),
            ([0x2A] + [UInt8](repeating: 0xFF, count: 12) + [0x7F], "?"),
        ] as [([UInt8], String)])
    func numbersAreLimited(octets: [UInt8], text: String) {
        #expect(ObjectIdentifier(octets).description == text)
    }
}
