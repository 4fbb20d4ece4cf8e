import LinnetTesting
import Testing

@testable import LinnetSecurity

/// The extensions of RFC 5280, 4.2, in the form that is defined for them, and in others.
@Suite("Known extensions", .timeLimit(.minutes(1)))
struct KnownExtensionTests {
    private static func known(_ identifier: ObjectIdentifier, _ value: [UInt8]) -> KnownExtensions {
        KnownExtensions([.init(identifier: identifier, isCritical: false, value: value)])
    }

    private static let uri = Part.uri("http://a")
    private static let purpose = ASN1.object("1.3.6.1.5.5.7.3.1")

    private static func policyPair(_ numbers: String...) -> [UInt8] { ASN1.sequence(of: numbers.map(ASN1.object)) }

    /// A DistributionPoint with a full name of these names.
    private static func point(_ names: [UInt8], _ rest: [UInt8]...) -> [UInt8] {
        ASN1.sequence(of: [ASN1.value(0xA0, ASN1.value(0xA0, names))] + rest)
    }

    @Test(
        arguments: [
            (.basicConstraints, ASN1.sequence()), (.basicConstraints, ASN1.sequence(ASN1.integer(0))),
            (.keyUsage, ASN1.bitString([])), (.keyUsage, ASN1.bitString([0, 0x80], unused: 7)),
            (.extendedKeyUsage, ASN1.sequence(purpose)), (.subjectAlternativeName, ASN1.sequence()),
            (.authorityKeyIdentifier, ASN1.sequence()),
            (.authorityKeyIdentifier, ASN1.sequence(ASN1.value(0xA1, uri), ASN1.value(0x82, [1]))),
            (.subjectKeyIdentifier, ASN1.octetString([])),
            (.authorityInformationAccess, ASN1.sequence(ASN1.sequence(purpose, uri))),
            (.subjectInformationAccess, ASN1.sequence(ASN1.sequence(purpose, uri), ASN1.sequence(purpose, uri))),
            (.tlsFeature, ASN1.sequence(ASN1.integer(5))),
            (.certificatePolicies, ASN1.sequence(ASN1.sequence(purpose))),
            (.certificatePolicies, ASN1.sequence(ASN1.sequence(purpose, ASN1.sequence()), ASN1.sequence(purpose))),
            (.policyMappings, ASN1.sequence(policyPair("1.2.3", "1.2.4"))),
            (.policyConstraints, ASN1.sequence(ASN1.value(0x80, [0]))),
            (.policyConstraints, ASN1.sequence(ASN1.value(0x81, [0]))),
            (.policyConstraints, ASN1.sequence(ASN1.value(0x80, [0x7F]), ASN1.value(0x81, [0, 0x80]))),
            (.inhibitAnyPolicy, ASN1.integer(0)), (.inhibitAnyPolicy, ASN1.integer(0x80)),
            (.distributionPoints, ASN1.sequence(point(uri))),
            (.distributionPoints, ASN1.sequence(point(uri, ASN1.value(0x81, [1, 2]), ASN1.value(0xA2, uri)))),
            (.distributionPoints, ASN1.sequence(ASN1.sequence(ASN1.value(0xA2, uri)))),
            (.distributionPoints, ASN1.sequence(ASN1.sequence(ASN1.value(0xA0, ASN1.value(0xA1, ASN1.null))))),
        ] as [(ObjectIdentifier, [UInt8])])
    func extensionInItsFormIsRead(identifier: ObjectIdentifier, value: [UInt8]) {
        #expect(Self.known(identifier, value).malformed == [])
        #expect(Self.known(identifier, value + ASN1.null).malformed == [identifier])
        #expect(Self.known(identifier, Array(value.dropLast())).malformed == [identifier])
    }

    @Test(
        arguments: [
            // FALSE, which DER does not encode, a negative length, and one element more (4.2.1.9).
            (.basicConstraints, ASN1.sequence([0x01, 0x01, 0x00])),
            (.basicConstraints, ASN1.sequence(ASN1.yes, ASN1.integer([0x80]))),
            (.basicConstraints, ASN1.sequence(ASN1.yes, ASN1.integer([0xFF]))),
            (.basicConstraints, ASN1.sequence(ASN1.yes, ASN1.integer(1), ASN1.null)),
            (.basicConstraints, ASN1.sequence(ASN1.integer(1), ASN1.yes)),
            // Nine bits are defined (4.2.1.3).
            (.keyUsage, ASN1.bitString([0, 0, 0x80], unused: 7)), (.keyUsage, ASN1.sequence()),
            (.extendedKeyUsage, ASN1.sequence()), (.extendedKeyUsage, ASN1.sequence(purpose, ASN1.null)),
            (.subjectAlternativeName, ASN1.sequence(ASN1.null)),
            // An issuer needs its serial number, and a serial number its issuer (4.2.1.1).
            (.authorityKeyIdentifier, ASN1.sequence(ASN1.value(0xA1, uri))),
            (.authorityKeyIdentifier, ASN1.sequence(ASN1.value(0x82, [1]))),
            (.authorityKeyIdentifier, ASN1.sequence(ASN1.value(0xA1, ASN1.null), ASN1.value(0x82, [1]))),
            (.authorityKeyIdentifier, ASN1.sequence(ASN1.value(0x80, [1]), ASN1.null)),
            (.authorityKeyIdentifier, ASN1.sequence(ASN1.value(0x81, uri), ASN1.value(0x82, [1]))),
            (.subjectKeyIdentifier, ASN1.sequence()),
            (.authorityInformationAccess, ASN1.sequence()),
            (.authorityInformationAccess, ASN1.sequence(ASN1.sequence(purpose))),
            (.authorityInformationAccess, ASN1.sequence(ASN1.sequence(purpose, uri, uri))),
            (.subjectInformationAccess, ASN1.sequence(ASN1.sequence(uri, uri))),
            (.tlsFeature, ASN1.sequence()), (.tlsFeature, ASN1.sequence(ASN1.integer([0x80]))),
            (.tlsFeature, ASN1.sequence(ASN1.integer([0xFF]))),
            (.tlsFeature, ASN1.sequence(ASN1.integer([1, 0, 0, 0]))), (.tlsFeature, ASN1.sequence(ASN1.null)),
            (.certificatePolicies, ASN1.sequence()),
            (.certificatePolicies, ASN1.sequence(ASN1.sequence(purpose, ASN1.null))),
            (.certificatePolicies, ASN1.sequence(ASN1.sequence(purpose, ASN1.sequence(), ASN1.sequence()))),
            (.policyMappings, ASN1.sequence()), (.policyMappings, ASN1.sequence(policyPair("1.2.3"))),
            (.policyMappings, ASN1.sequence(policyPair("1.2.3", "1.2.4", "1.2.5"))),
            // At least one of two, in their order, and neither negative (4.2.1.11).
            (.policyConstraints, ASN1.sequence()), (.policyConstraints, ASN1.sequence(ASN1.value(0x82, [0]))),
            (.policyConstraints, ASN1.sequence(ASN1.value(0x81, [0]), ASN1.value(0x80, [0]))),
            (.policyConstraints, ASN1.sequence(ASN1.value(0x80, [0]), ASN1.value(0x81, [0]), ASN1.value(0x82, [0]))),
            (.policyConstraints, ASN1.sequence(ASN1.value(0x80, [0x80]))),
            (.policyConstraints, ASN1.sequence(ASN1.value(0x80, [0, 1]))),
            (.policyConstraints, ASN1.sequence(ASN1.value(0x80, []))),
            (.inhibitAnyPolicy, ASN1.integer([0x80])), (.inhibitAnyPolicy, ASN1.integer([0xFF])),
            (.distributionPoints, ASN1.sequence()),
            (.distributionPoints, ASN1.sequence(point(uri, ASN1.null))),
            (.distributionPoints, ASN1.sequence(point(uri, ASN1.value(0xA2, ASN1.null)))),
            (.distributionPoints, ASN1.sequence(point(ASN1.null))),
            (.distributionPoints, ASN1.sequence(ASN1.sequence(ASN1.value(0xA0, [])))),
            (.distributionPoints, ASN1.sequence(ASN1.sequence(ASN1.value(0xA0, ASN1.value(0xA2, uri))))),
            (.distributionPoints, ASN1.sequence(ASN1.sequence(ASN1.value(0xA0, ASN1.value(0x80, uri))))),
            (
                .distributionPoints,
                ASN1.sequence(ASN1.sequence(ASN1.value(0xA0, ASN1.value(0xA0, uri) + ASN1.value(0xA0, uri))))
            ),
            (
                .distributionPoints,
                ASN1.sequence(ASN1.sequence(ASN1.value(0xA0, ASN1.value(0xA1, uri) + ASN1.value(0xA1, uri))))
            ),
        ] as [(ObjectIdentifier, [UInt8])])
    func extensionInAnotherFormIsMalformed(identifier: ObjectIdentifier, value: [UInt8]) {
        #expect(Self.known(identifier, value).malformed == [identifier])
    }

    @Test func unknownExtensionIsNotDecoded() {
        #expect(Self.known(ObjectIdentifier(dotted: "1.2.3"), [1, 2, 3]).malformed == [])
    }

    // MARK: Values

    @Test(
        arguments: [
            ([], nil), (ASN1.integer(0), 0), (ASN1.integer(0x7F), 0x7F), (ASN1.integer(0x80), 0x80),
            (ASN1.integer([1, 2, 3]), 0x010203), (ASN1.integer([0x7F, 0xFF, 0xFF]), 0x7FFFFF),
            (ASN1.integer([1, 0, 0, 0]), .max),
        ] as [([UInt8], Int?)])
    func pathLengthIsRead(integer: [UInt8], length: Int?) {
        let constraints = Self.known(.basicConstraints, ASN1.sequence(ASN1.yes, integer)).basicConstraints
        #expect(constraints?.isAuthority == true)
        #expect(constraints?.pathLength == length)
        let leaf = Self.known(.basicConstraints, ASN1.sequence(integer)).basicConstraints
        #expect(leaf?.isAuthority == false)
        #expect(leaf?.pathLength == length)
    }

    /// The first bit is the most significant one of the first octet (X.680, 22.3).
    @Test(
        arguments: [
            ([0x80], 7, [0]), ([0x40], 6, [1]), ([0x20], 5, [2]), ([0x10], 4, [3]), ([0x08], 3, [4]), ([0x04], 2, [5]),
            ([0x02], 1, [6]), ([0x01], 0, [7]), ([0x00, 0x80], 7, [8]), ([0xFF, 0x80], 7, Array(0...8)), ([], 0, []),
        ] as [([UInt8], UInt8, [Int])])
    func keyUsageIsReadBitByBit(octets: [UInt8], unused: UInt8, bits: [Int]) throws {
        let usage = try #require(Self.known(.keyUsage, ASN1.bitString(octets, unused: unused)).keyUsage)
        #expect((0..<16).filter { usage.rawValue >> $0 & 1 == 1 } == bits)
        #expect(usage.contains(.digitalSignature) == bits.contains(0))
        #expect(usage.contains(.certificateSigning) == bits.contains(5))
        #expect(usage.contains(.listSigning) == bits.contains(6))
    }

    @Test func listsAreReadCompletely() {
        let purposes = Self.known(.extendedKeyUsage, ASN1.sequence(Self.purpose, ASN1.object("1.2.3")))
        #expect(purposes.extendedKeyUsage == [.serverAuthentication, ObjectIdentifier(dotted: "1.2.3")])
        let pair = Self.policyPair("1.2.3", "1.2.4")
        #expect(Self.known(.policyMappings, ASN1.sequence(pair, pair, pair)).policyMappings == 3)
        #expect(Self.known(.policyMappings, ASN1.sequence(pair)).policyMappings == 1)
        let points = ASN1.sequence(Self.point(Self.uri), Self.point(Part.mail("a@b") + Part.uri("http://b")))
        #expect(
            Self.known(.distributionPoints, points).distributionURIs == [
                Array("http://a".utf8), Array("http://b".utf8),
            ])
        let relative = ASN1.sequence(ASN1.sequence(ASN1.value(0xA0, ASN1.value(0xA1, ASN1.null))))
        #expect(Self.known(.distributionPoints, relative).distributionURIs == [])
    }

    @Test func tlsFeaturesAreNumbers() {
        let numbers = [
            ASN1.integer(5), ASN1.integer(17), ASN1.integer(0x7F), ASN1.integer(0x80), ASN1.integer([1, 2, 3]),
        ]
        let known = Self.known(.tlsFeature, ASN1.sequence(of: numbers))
        #expect(known.tlsFeatures == [5, 17, 0x7F, 0x80, 0x010203])
    }

    @Test func keyIdentifiersAreRead() {
        let both = ASN1.sequence(ASN1.value(0x80, [1, 2]), ASN1.value(0xA1, Self.uri), ASN1.value(0x82, [3]))
        let own = Self.known(.authorityKeyIdentifier, both)
        #expect(own.authorityKeyIdentifier?.keyIdentifier == [1, 2])
        #expect(own.authorityKeyIdentifier?.serialNumber == [3])
        #expect(own.hasAuthorityKeyIdentifier && !own.hasSubjectKeyIdentifier)
        let subject = Self.known(.subjectKeyIdentifier, ASN1.octetString([4]))
        #expect(subject.subjectKeyIdentifier == [4])
        #expect(subject.hasSubjectKeyIdentifier && !subject.hasAuthorityKeyIdentifier)
        // Without octets, an identifier identifies nothing.
        #expect(!Self.known(.subjectKeyIdentifier, ASN1.octetString([])).hasSubjectKeyIdentifier)
        let empty = ASN1.sequence(ASN1.value(0x80, []))
        #expect(!Self.known(.authorityKeyIdentifier, empty).hasAuthorityKeyIdentifier)
        #expect(!Self.known(.authorityKeyIdentifier, ASN1.sequence()).hasAuthorityKeyIdentifier)
    }

    /// Constraints that cannot be read constrain all the same.
    @Test func policyConstraintsAreNoticedInEveryForm() {
        let sequence = ASN1.sequence(ASN1.value(0x80, [0]))
        #expect(Self.known(.policyConstraints, sequence).hasPolicyConstraints)
        #expect(Self.known(.policyConstraints, ASN1.null).hasPolicyConstraints)
        #expect(Self.known(.inhibitAnyPolicy, ASN1.integer(0)).hasPolicyConstraints)
        #expect(Self.known(.inhibitAnyPolicy, ASN1.null).hasPolicyConstraints)
        #expect(!Self.known(.certificatePolicies, ASN1.sequence(ASN1.sequence(Self.purpose))).hasPolicyConstraints)
    }

    @Test func malformedNameConstraintsAreKept() {
        let subtree = ASN1.sequence(ASN1.value(0xA1, ASN1.sequence(ASN1.host(".example.com"))))
        let kept = Self.known(.nameConstraints, subtree)
        #expect(kept.malformed == [.nameConstraints])
        #expect(kept.nameConstraints?.excluded.count == 1)
        let proper = Self.known(.nameConstraints, ASN1.sequence(ASN1.value(0xA1, ASN1.sequence(ASN1.host("a")))))
        #expect(proper.malformed == [])
        #expect(Self.known(.nameConstraints, ASN1.null).nameConstraints == nil)
    }
}
