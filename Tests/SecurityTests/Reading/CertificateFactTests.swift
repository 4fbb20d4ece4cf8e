import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// The fields of a certificate (RFC 5280, 4.1), in the form that is defined for them, and in others.
@Suite("The fields of certificates", .timeLimit(.minutes(1)))
struct CertificateFactTests {
    private static func certificate(_ change: (inout UnsignedCertificate) -> Void) -> UnsignedCertificate {
        var certificate = UnsignedCertificate()
        change(&certificate)
        return certificate
    }

    private static let (start, end) = (ASN1.utcTime("250101000000Z"), ASN1.utcTime("490101000000Z"))
    private static let attribute = ASN1.sequence(ASN1.object("2.5.4.3"), ASN1.value(0x0C, [0x61]))

    @Test func fieldsAreRead() throws {
        let facts = try Self.certificate {
            $0.serialNumber = ASN1.integer([0, 0x80])
            $0.extend([.init("1.2.3", [1]), .init("1.2.4", critical: true, []), .init("1.2.3", [2])])
        }.facts
        #expect(facts.isStrictDER && facts.version == 3 && facts.serialNumber == [0, 0x80])
        #expect(facts.signature.bytes == UnsignedCertificate.ecdsaSHA256)
        #expect(facts.signature.identifier.description == "1.2.840.10045.4.3.2")
        #expect(facts.signature.parameters == nil && facts.outerSignature.bytes == facts.signature.bytes)
        #expect(facts.issuer == ASN1.name("Authority") && facts.subject == ASN1.name("Server"))
        #expect(!facts.isSelfIssued && !facts.hasUniqueIdentifier)
        #expect(facts.commonNames == ["Server"] && facts.subjectAttributes == 1)
        #expect(facts.notBefore.seconds == 1_735_689_600 && facts.notAfter.seconds == 2_493_072_000)
        #expect(facts.extensions.map(\.identifier.description) == ["1.2.3", "1.2.4", "1.2.3"])
        #expect(facts.extensions.map(\.isCritical) == [false, true, false])
        #expect(facts.extensions.map(\.value) == [[1], [], [2]])
        #expect(facts.first(ObjectIdentifier(dotted: "1.2.3"))?.value == [1])
        #expect(facts.first(ObjectIdentifier(dotted: "1.2.4"))?.value == [])
        #expect(facts.first(ObjectIdentifier(dotted: "1.2.5"))?.value == nil)
        #expect(try Self.certificate { $0.issuer = $0.subject }.facts.isSelfIssued)
    }

    @Test(arguments: [([], 1), (ASN1.integer(0), 1), (ASN1.integer(1), 2), (ASN1.integer(2), 3)] as [([UInt8], Int)])
    func versionIsFromOneToThree(integer: [UInt8], version: Int) throws {
        let facts = try Self.certificate { $0.version = integer.isEmpty ? [] : ASN1.value(0xA0, integer) }.facts
        #expect(facts.version == version)
    }

    @Test func uniqueIdentifiersAreNoticed() throws {
        let (issuers, subjects) = (ASN1.value(0x81, [0, 1]), ASN1.value(0x82, [0, 1]))
        for identifiers in [issuers, subjects, issuers + subjects] {
            #expect(try Self.certificate { $0.uniqueIdentifiers = identifiers }.facts.hasUniqueIdentifier)
        }
        #expect(throws: DERError.self) { try Self.certificate { $0.uniqueIdentifiers = subjects + issuers }.facts }
    }

    @Test func attributesOfTheSubjectAreCounted() throws {
        let other = ASN1.sequence(ASN1.object("2.5.4.10"), ASN1.value(0x0C, [0x62]))
        let facts = try Self.certificate {
            $0.subject = ASN1.sequence(
                ASN1.value(0x31, Self.attribute + other), ASN1.value(0x31, other), ASN1.value(0x31, Self.attribute))
        }.facts
        #expect(facts.commonNames == ["a", "a"])
        #expect(facts.subjectAttributes == 4)
        let none = try Self.certificate { $0.subject = ASN1.sequence() }.facts
        #expect(none.commonNames == [] && none.subjectAttributes == 0)
    }

    /// The reader reads what is not DER in a part that it does not interpret, and notes it.
    @Test func valuesThatAreNotDERAreNoted() throws {
        let facts = try Self.certificate { $0.uniqueIdentifiers = ASN1.value(0x81, [1]) }.facts
        #expect(facts.isStrictDER)
        let odd = ASN1.sequence(ASN1.object("2.5.4.45"), [0x03, 0x02, 0x04, 0x0F])
        #expect(try !Self.certificate { $0.subject = ASN1.sequence(ASN1.value(0x31, odd)) }.facts.isStrictDER)
    }

    @Test(arguments: [
        certificate { $0.rest = ASN1.null }, certificate { $0.signedRest = ASN1.null },
        certificate { $0.version = ASN1.value(0xA0, ASN1.integer(3)) },
        certificate { $0.version = ASN1.value(0xA0, ASN1.integer([0xFF])) },
        certificate { $0.version = ASN1.value(0xA0, ASN1.integer([0, 2])) },
        certificate { $0.version = ASN1.value(0xA0, ASN1.integer([])) },
        certificate { $0.version = ASN1.value(0xA0, ASN1.integer(2) + ASN1.null) },
        certificate { $0.version = ASN1.value(0x80, [2]) },
        certificate { $0.algorithm = ASN1.sequence(ASN1.object("1.2.3"), ASN1.null, ASN1.null) },
        certificate { $0.algorithm = ASN1.sequence() }, certificate { $0.issuer = ASN1.value(0x31, []) },
        certificate { $0.validity = ASN1.sequence(start) },
        certificate { $0.validity = ASN1.sequence(start, end, end) },
        certificate { $0.subject = ASN1.sequence(ASN1.null) },
        certificate { $0.subject = ASN1.sequence(ASN1.value(0x31, ASN1.null)) },
        certificate { $0.subject = ASN1.sequence(ASN1.value(0x31, ASN1.sequence(ASN1.object("2.5.4.3")))) },
        certificate { $0.publicKey = ASN1.sequence(ASN1.sequence(ASN1.object("1.2.3"))) },
        certificate {
            $0.publicKey = ASN1.sequence(ASN1.sequence(ASN1.object("1.2.3")), ASN1.bitString([1]), ASN1.null)
        },
        certificate { $0.uniqueIdentifiers = ASN1.value(0xA1, ASN1.null) },
        // No extension, something behind the list or an entry, and a criticality that is not DER (X.690, 11.1).
        certificate { $0.extensions = ASN1.value(0xA3, ASN1.sequence()) },
        certificate {
            $0.extend([.init("1.2.3", [])])
            $0.extensions = ASN1.value(0xA3, $0.extensions.dropFirst(2) + ASN1.null)
        },
        certificate { $0.extensions = ASN1.value(0xA4, ASN1.sequence()) },
        certificate { $0.extensions = entry(ASN1.object("1.2.3"), ASN1.octetString([]), ASN1.null) },
        certificate { $0.extensions = entry(ASN1.object("1.2.3"), [1, 1, 0], ASN1.octetString([])) },
        certificate { $0.extensions = entry(ASN1.object("1.2.3"), [1, 1, 1], ASN1.octetString([])) },
        certificate { $0.extensions = entry(ASN1.object("1.2.3"), [1, 1, 0xFE], ASN1.octetString([])) },
        certificate { $0.extensions = entry(ASN1.object("1.2.3")) },
    ])
    func anotherFormIsRefused(certificate: UnsignedCertificate) {
        #expect(throws: DERError.self) { try certificate.facts }
    }

    private static func entry(_ parts: [UInt8]...) -> [UInt8] {
        ASN1.value(0xA3, ASN1.sequence(ASN1.sequence(of: parts)))
    }

    // MARK: Times

    /// UTCTime through 2049, GeneralizedTime from 2050 on (RFC 5280, 4.1.2.5).
    @Test(
        arguments: [
            (ASN1.utcTime("491231235959Z"), true), (ASN1.generalizedTime("20491231235959Z"), false),
            (ASN1.generalizedTime("20500101000000Z"), true), (ASN1.generalizedTime("20500101000001Z"), true),
            (ASN1.generalizedTime("99991231235959Z"), true), (ASN1.utcTime("500101000000Z"), true),
            (ASN1.generalizedTime("20500101000000"), false), (ASN1.utcTime("4912312359Z"), false),
        ] as [([UInt8], Bool)])
    func timeHasTheEncodingOfItsYear(time: [UInt8], isRequired: Bool) throws {
        let facts = try Self.certificate { $0.validity = ASN1.sequence(time, time) }.facts
        #expect(facts.notBefore.isEncodedAsRequired == isRequired)
        #expect(facts.notAfter.isEncodedAsRequired == isRequired)
        #expect((facts.notAfter.date == nil) == (facts.notAfter.seconds == nil))
    }
}

/// The keys of certificates (RFC 3279, RFC 4055, RFC 5480, RFC 8410).
@Suite("Public keys", .timeLimit(.minutes(1)))
struct KeyFactTests {
    private static func key(_ info: [UInt8]) throws -> KeyFacts {
        var certificate = UnsignedCertificate()
        certificate.publicKey = info
        return try certificate.facts.key
    }

    private static let (rsa, pss, curve) = ("1.2.840.113549.1.1.1", "1.2.840.113549.1.1.10", "1.2.840.10045.2.1")

    @Test(
        arguments: [
            (rsa, ASN1.null, .rsa, true), (rsa, [], .rsa, false), (rsa, [0x05, 0x01, 0x00], .rsa, false),
            (rsa, ASN1.object("1.2.3"), .rsa, false), (pss, [], .rsaPSS, true), (pss, ASN1.sequence(), .rsaPSS, true),
            (curve, ASN1.object("1.2.840.10045.3.1.7"), .p256, true), (curve, ASN1.object("1.3.132.0.34"), .p384, true),
            (curve, ASN1.object("1.3.132.0.35"), .p521, true), (curve, ASN1.object("1.3.132.0.33"), nil, true),
            (curve, ASN1.sequence(), nil, true), (curve, [], nil, true),
            ("1.3.101.112", [], .ed25519, true), ("1.3.101.112", ASN1.null, .ed25519, false),
            ("1.3.101.113", [], .ed448, true), ("1.3.101.113", ASN1.null, .ed448, false),
            ("1.3.101.110", [], nil, true),
        ] as [(String, [UInt8], ChainProfile.KeyRequirements.KeyKind?, Bool)])
    func kindAndParametersAreRead(
        algorithm: String, parameters: [UInt8], kind: ChainProfile.KeyRequirements.KeyKind?, isProper: Bool
    ) throws {
        let info = UnsignedCertificate.key(algorithm, parameters)
        let key = try Self.key(info)
        #expect(key.kind == kind)
        #expect(key.hasProperParameters == isProper)
        let isNamed = parameters.first == 0x06
        #expect(key.hasExplicitCurve == (algorithm == Self.curve && !isNamed))
        #expect(key.byteCount == info.count)
        #expect(key.rsa == nil)
    }

    @Test(
        arguments: [
            ([0x80], 8, [1], 1), ([0x7F], 7, [3], 2), ([0x01, 0x00], 9, [1, 0, 1], 17),
            ([0xFF, 0xFF], 16, [0x80, 0], 16), ([0], 0, [0], 0),
        ] as [([UInt8], Int, [UInt8], Int)])
    func numbersOfRSAAreRead(modulus: [UInt8], bits: Int, exponent: [UInt8], exponentBits: Int) throws {
        for algorithm in [Self.rsa, Self.pss] {
            let content = ASN1.sequence(ASN1.positive(modulus), ASN1.positive(exponent))
            let numbers = try #require(try Self.key(UnsignedCertificate.key(algorithm, [], content)).rsa)
            #expect(numbers.modulus == (modulus == [0] ? [] : modulus))
            #expect(numbers.exponent == (exponent == [0] ? [] : exponent))
            #expect(numbers.modulusBits == bits)
            #expect(numbers.exponentBits == exponentBits)
        }
        #expect(try Self.key(UnsignedCertificate.key("1.2.3", [], ASN1.sequence())).rsa == nil)
    }

    /// A negative number, one longer than necessary, none, and something behind them.
    @Test(arguments: [
        ASN1.sequence(ASN1.integer([0x80]), ASN1.integer(3)), ASN1.sequence(ASN1.integer(3), ASN1.integer([0x80])),
        ASN1.sequence(ASN1.integer([0xFF]), ASN1.integer(3)), ASN1.sequence(ASN1.integer([0, 1]), ASN1.integer(3)),
        ASN1.sequence(ASN1.integer([]), ASN1.integer(3)), ASN1.sequence(ASN1.integer(3)),
        ASN1.sequence(ASN1.integer(3), ASN1.integer(3), ASN1.integer(3)),
        ASN1.sequence(ASN1.integer(3), ASN1.integer(3)) + ASN1.null, [],
    ])
    func unreadableKeyOfRSAHasNoNumbers(content: [UInt8]) throws {
        #expect(try Self.key(UnsignedCertificate.key(Self.rsa, ASN1.null, content)).rsa == nil)
    }

    // MARK: Factors (NIST SP 800-89, 5.3.3)

    private static let primes = (3..<752).filter { number in (2..<number).allSatisfy { number % $0 != 0 } }

    /// The product of a small number and 2^61 - 1, a prime, in as many octets as there are and more.
    private static func product(_ factor: UInt64, leadingZeros: Int) -> [UInt8] {
        let (high, low) = factor.multipliedFullWidth(by: 1 << 61 - 1)
        let octets = [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
        return [UInt8](repeating: 0, count: leadingZeros) + octets.drop { $0 == 0 }
    }

    @Test func everySmallPrimeIsFound() {
        #expect(Self.primes.count == 132 && Self.primes.last == 751)
        for prime in Self.primes {
            for zeros in 0..<4 {
                let number = Self.product(UInt64(prime), leadingZeros: zeros)
                #expect(KeyFacts.RSANumbers.smallFactor(of: number) == UInt32(prime))
            }
        }
    }

    @Test(
        arguments: [
            ([], 2), ([2], 2), ([0xFF, 0x00], 2), ([1], nil), ([3], 3), ([0x01, 0x01], 257), ([0x02, 0xF5], nil),
            (product(757 * 761, leadingZeros: 0), nil), (product(3 * 5, leadingZeros: 0), 3),
            (product(743 * 751, leadingZeros: 0), 743), ([UInt8](repeating: 0, count: 5) + [5], 5),
        ] as [([UInt8], UInt32?)])
    func smallestFactorIsFound(number: [UInt8], factor: UInt32?) {
        #expect(KeyFacts.RSANumbers.smallFactor(of: number) == factor)
    }

    /// Longer numbers exceed the limits and are not divided.
    @Test(arguments: [(1024, 3), (1025, nil)] as [(Int, UInt32?)])
    func longNumbersAreNotDivided(count: Int, factor: UInt32?) {
        let numbers = KeyFacts.RSANumbers(modulus: [UInt8](repeating: 0xFF, count: count), exponent: [3])
        #expect(numbers.smallFactor == factor)
    }
}

/// The limits that bound the work for a chain (``ChainLimits``), each at its boundary.
@Suite("Limits of certificates", .timeLimit(.minutes(1)))
struct ChainLimitTests {
    private static func facts(_ change: (inout UnsignedCertificate) -> Void) throws -> CertificateFacts {
        var certificate = UnsignedCertificate()
        change(&certificate)
        return try certificate.facts
    }

    private static func names(_ count: Int, attributes: Int = 1) throws -> CertificateFacts {
        try facts {
            $0.subject = ASN1.sequence(
                of: (0..<attributes).map { _ in
                    ASN1.value(0x31, ASN1.sequence(ASN1.object("2.5.4.3"), ASN1.value(0x0C, [0x61])))
                })
            guard count > 0 else { return }
            $0.extend([.init("2.5.29.17", ASN1.sequence(of: (0..<count).map { _ in ASN1.host("a") }))])
        }
    }

    private static func subtrees(_ permitted: Int, _ excluded: Int) throws -> CertificateFacts {
        func list(_ tag: UInt8, _ count: Int) -> [UInt8] {
            count == 0 ? [] : ASN1.value(tag, (0..<count).flatMap { _ in ASN1.sequence(ASN1.host("a")) })
        }
        return try facts {
            $0.extend([.init("2.5.29.30", ASN1.sequence(list(0xA0, permitted), list(0xA1, excluded)))])
        }
    }

    private static func mappings(_ count: Int) throws -> CertificateFacts {
        let pair = ASN1.sequence(ASN1.object("1.2.3"), ASN1.object("1.2.4"))
        return try facts { $0.extend([.init("2.5.29.33", ASN1.sequence(of: (0..<count).map { _ in pair }))]) }
    }

    /// A key of a number of bytes.
    private static func key(_ bytes: Int) -> [UInt8] {
        let short = UnsignedCertificate.key("1.2.3", [], [UInt8](repeating: 1, count: bytes - 32))
        return UnsignedCertificate.key("1.2.3", [], [UInt8](repeating: 1, count: 2 * bytes - 32 - short.count))
    }

    @Test(
        arguments: [
            (64, nil), (65, "64 extensions"),
        ] as [(Int, String?)])
    func extensionsAreLimited(count: Int, excess: String?) throws {
        let facts = try Self.facts { $0.extend((0..<count).map { .init("1.2.3.\($0)", []) }) }
        #expect(facts.extensions.count == count)
        try Self.expect(facts, excess)
    }

    private static func expect(_ facts: CertificateFacts, _ excess: String?) throws {
        let found = ChainLimits.excess(facts)
        #expect((found == nil) == (excess == nil))
        if let excess { #expect(found?.contains(excess) == true, "\(found ?? "none")") }
    }

    @Test(arguments: [(4096, nil), (4097, "4096 bytes")] as [(Int, String?)])
    func bytesOfAKeyAreLimited(count: Int, excess: String?) throws {
        let facts = try Self.facts { $0.publicKey = Self.key(count) }
        #expect(facts.key.byteCount == count)
        try Self.expect(facts, excess)
    }

    @Test(
        arguments: [
            (8192, 256, nil), (8193, 17, "8192 bits"), (2048, 257, "exponent of more than 256 bits"),
        ] as [(Int, Int, String?)])
    func bitsOfAKeyAreLimited(modulus: Int, exponent: Int, excess: String?) throws {
        func number(_ bits: Int) -> [UInt8] {
            [UInt8(1) << UInt8((bits - 1) % 8)] + [UInt8](repeating: 0xFF, count: (bits - 1) / 8)
        }
        let facts = try Self.facts { $0.publicKey = UnsignedCertificate.rsa(number(modulus), number(exponent)) }
        #expect(facts.key.rsa?.modulusBits == modulus && facts.key.rsa?.exponentBits == exponent)
        try Self.expect(facts, excess)
    }

    @Test(
        arguments: [
            (4099, 1, nil), (4100, 1, "4100 names"), (0, 4100, nil), (0, 4101, "4100 names"), (4100, 0, nil),
            (2000, 2101, "4100 names"),
        ] as [(Int, Int, String?)])
    func namesAreLimited(names: Int, attributes: Int, excess: String?) throws {
        try Self.expect(Self.names(names, attributes: attributes), excess)
    }

    @Test(
        arguments: [
            (1024, 0, nil), (1025, 0, "1024 name constraints"), (0, 1024, nil), (0, 1025, "1024 name constraints"),
            (1000, 24, nil), (1000, 25, "1024 name constraints"),
        ] as [(Int, Int, String?)])
    func subtreesAreLimited(permitted: Int, excluded: Int, excess: String?) throws {
        try Self.expect(Self.subtrees(permitted, excluded), excess)
    }

    /// OpenSSL may read a list that is not DER, whose elements have two, four and eight octets at least.
    @Test(
        arguments: [
            ("2.5.29.17", 2 * 4099 + 1, nil), ("2.5.29.17", 2 * 4100, "4100 names"), ("2.5.29.30", 4 * 1025 - 1, nil),
            ("2.5.29.30", 4 * 1025, "1024 name constraints"),
        ] as [(String, Int, String?)])
    func unreadableListHasAsManyElementsAsItsOctetsHold(identifier: String, octets: Int, excess: String?) throws {
        let facts = try Self.facts { $0.extend([.init(identifier, [UInt8](repeating: 0, count: octets))]) }
        try Self.expect(facts, excess)
    }

    @Test(
        arguments: [
            // A name more of each certificate is the requested host or its subject.
            (([96], 1000), nil), (([97], 1000), "name constraints"), (([48, 46], 1000), nil),
            (([48, 47], 1000), "name constraints"),
        ] as [(([Int], Int), String?)])
    func namesTimesConstraintsAreLimited(counts: ([Int], Int), excess: String?) throws {
        // Each has its subject, too, as has the certificate with the constraints.
        let chain = try counts.0.map { try Self.names($0) } + [Self.subtrees(400, counts.1 - 400)]
        let names = counts.0.reduce(0) { $0 + $1 + 2 } + 2
        #expect((names * counts.1 > 100_000) == (excess != nil))
        let found = ChainLimits.excess(chain)
        #expect(found.map { $0.contains(excess ?? "none") } ?? (excess == nil))
    }

    @Test(arguments: [([16], nil), ([17], true), ([8, 8], nil), ([8, 9], true), ([9, 8], true)] as [([Int], Bool?)])
    func mappingsOfPoliciesAreLimited(counts: [Int], isExcess: Bool?) throws {
        let chain = try counts.map { try Self.mappings($0) }
        #expect((ChainLimits.excess(chain)?.contains("16 policy mappings")) == isExcess)
    }

    @Test(arguments: [(8 * 17 - 1, nil), (8 * 17, true)] as [(Int, Bool?)])
    func unreadableMappingsAreLimited(octets: Int, isExcess: Bool?) throws {
        let facts = try Self.facts { $0.extend([.init("2.5.29.33", [UInt8](repeating: 0, count: octets))]) }
        #expect((ChainLimits.excess([facts])?.contains("16 policy mappings")) == isExcess)
    }

    // MARK: What a server presents

    private static func refusal(_ chain: [Data]) -> TrustRefusal? {
        do throws(TrustRefusal) {
            _ = try ChainVerifier.parse(ServerTrust(host: "localhost", port: 443, presentedChain: chain))
            return nil
        } catch {
            return error
        }
    }

    @Test func presentedCertificatesAreLimited() throws {
        let der = try TestPKI().root.derBytes
        #expect(Self.refusal(Array(repeating: der, count: 32)) == nil)
        let refusal = Self.refusal(Array(repeating: der, count: 33))
        #expect(refusal?.reason == .malformedCertificate)
        #expect(refusal?.message.contains("32 certificates") == true)
    }

    @Test(arguments: [([262_144], false), ([262_145], true), ([200_000, 62_144], false), ([200_000, 62_145], true)])
    func presentedBytesAreLimited(counts: [Int], isExcess: Bool) {
        let refusal = Self.refusal(counts.map { Data(count: $0) })
        #expect(refusal?.reason == .malformedCertificate)
        #expect(refusal?.message.contains("262144 bytes") == isExcess)
    }
}
