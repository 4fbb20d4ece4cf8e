import COpenSSL
import FoundationEssentials
import LinnetSecurity
import LinnetTesting

/// Flaws and the rules that they violate.
enum StrictRuleFlaws {
    typealias Flaw = StrictRuleTests.Flaw

    static let all: [Flaw] = structure + extensions + usage + names + keys + signatures

    private static let structure: [Flaw] = [
        Flaw(.nonDER, "bits that are not used and are set") {
            $0.set("2.5.29.14", ASN1.octetString([1, 2, 3]))
            $0.subject = ASN1.sequence(
                ASN1.value(0x31, ASN1.sequence(ASN1.object("2.5.4.45"), [0x03, 0x02, 0x04, 0x0F])),
                ASN1.value(0x31, ASN1.sequence(ASN1.object("2.5.4.3"), ASN1.value(0x0C, Array("localhost".utf8)))))
        },
        Flaw(.certificateVersion, "version 1") {
            $0.version = nil
            $0.extensions = $0.extensions.map { .init($0.identifier, critical: $0.isCritical, $0.value) }
        },
        Flaw(.certificateVersion, "version 2, and extensions") { $0.version = 1 },
        Flaw(.uniqueIdentifier, "issuer's") { $0.uniqueIdentifiers = ASN1.value(0x81, [0, 1, 2]) },
        Flaw(.uniqueIdentifier, "subject's") { $0.uniqueIdentifiers = ASN1.value(0x82, [0, 1, 2]) },
        Flaw(.serialNumber, "zero") { $0.serialNumber = [0] },
        Flaw(.serialNumber, "negative") { $0.serialNumber = [0x80, 1] },
        Flaw(.serialNumber, "21 octets") { $0.serialNumber = Array(repeating: 1, count: 21) },
        Flaw(.serialNumber, "an authority's of 21 octets", authority: true) {
            $0.serialNumber = Array(repeating: 1, count: 21)
        },
        Flaw(.validityEncoding, "GeneralizedTime before 2050") {
            $0.notBefore = ASN1.generalizedTime("20200101000000Z")
        },
        Flaw(.validityEncoding, "fractions of a second", passesOpenSSL: false) {
            $0.notBefore = ASN1.generalizedTime("20200101000000.5Z")
        },
    ]

    private static let extensions: [Flaw] = [
        Flaw(.duplicateExtension, "an unknown one") {
            $0.extensions += Array(repeating: .init("1.3.6.1.4.1.99999.1", ASN1.null), count: 2)
        },
        Flaw(.malformedExtension, "bytes after the value") {
            $0.set("1.3.6.1.5.5.7.1.24", ASN1.sequence(ASN1.integer(9)) + ASN1.null)
        },
        Flaw(.malformedExtension, "access to nothing") { $0.set("1.3.6.1.5.5.7.1.1", ASN1.sequence()) },
        Flaw(.malformedExtension, "an issuer without its serial number") {
            $0.set("2.5.29.35", ASN1.sequence(ASN1.value(0xA1, ASN1.value(0xA4, ASN1.name("other")))))
        }.refusedByOpenSSL,
        Flaw(.malformedExtension, "a mask with holes", authority: true) {
            $0.set("2.5.29.30", critical: true, excluding(ASN1.address([192, 0, 2, 0, 255, 0, 255, 0])))
        },
        Flaw(.malformedExtension, "a constraint that begins with a dot", authority: true) {
            $0.set("2.5.29.30", critical: true, excluding(ASN1.host(".example.com")))
        },
        Flaw(.unprocessedCriticalExtension, "issuing distribution point", passesOpenSSL: false) {
            $0.set("1.3.6.1.4.1.99999.1", critical: true, ASN1.null)
        },
        Flaw(.unprocessedCriticalExtension, "addresses of networks (RFC 3779)") {
            let family = ASN1.sequence(ASN1.octetString([0, 1]), ASN1.null)
            $0.set("1.3.6.1.5.5.7.1.7", critical: true, ASN1.sequence(family))
        }.refusedByOpenSSL,
        Flaw(.extensionMustNotBeCritical, "access descriptions", passesOpenSSL: false) {
            let location = ASN1.sequence(ASN1.object("1.3.6.1.5.5.7.48.1"), ASN1.value(0x86, Array("http://a".utf8)))
            $0.set("1.3.6.1.5.5.7.1.1", critical: true, ASN1.sequence(location))
        },
        Flaw(.extensionShouldNotBeCritical, "distribution points") {
            let name = ASN1.value(0xA0, ASN1.value(0xA0, ASN1.value(0x86, Array("http://a".utf8))))
            $0.set("2.5.29.31", critical: true, ASN1.sequence(ASN1.sequence(name)))
        },
        Flaw(.extensionShouldNotBeCritical, "purposes") { $0.set("2.5.29.37", critical: true) },
        Flaw(.basicConstraintsNotCritical, "an authority's", authority: true) { $0.set("2.5.29.19", critical: false) },
        Flaw(.keyUsageNotCritical, "an authority's", authority: true) { $0.set("2.5.29.15", critical: false) },
        Flaw(.policyConstraintsNotCritical, "any policy inhibited", authority: true) {
            $0.set("2.5.29.54", critical: false, ASN1.integer(5))
        },
        Flaw(.missingAuthorityKeyIdentifier, "a server's") { $0.set("2.5.29.35", []) },
        Flaw(.missingAuthorityKeyIdentifier, "an authority's", authority: true) { $0.set("2.5.29.35", []) },
        Flaw(.missingSubjectKeyIdentifier, "an authority's", authority: true) { $0.set("2.5.29.14", []) },
        Flaw(.nameConstraintsInLeaf, "a server that constrains") {
            $0.set("2.5.29.30", critical: true, excluding(ASN1.host("example.com")))
        },
    ]

    private static let usage: [Flaw] = [
        // OpenSSL accepts it as an authority when it searches for one, and refuses it later.
        Flaw(
            .missingBasicConstraints, "an authority that only its usage shows", authority: true, passesOpenSSL: false
        ) {
            $0.remove("2.5.29.19")
        },
        Flaw(.pathLengthWithoutAuthority, "a server's") { $0.set("2.5.29.19", ASN1.sequence(ASN1.integer(0))) },
        Flaw(.leafIsAuthority, "an authority's key in a server") {
            $0.set("2.5.29.19", ASN1.sequence(ASN1.yes))
        },
        Flaw(.missingKeyUsage, "an authority's", authority: true) { $0.remove("2.5.29.15") },
        Flaw(.emptyKeyUsage, "no bit", passesOpenSSL: false) { $0.set("2.5.29.15", ASN1.bitString([])) },
        Flaw(.certificateSigningWithoutAuthority, "a server that may sign certificates") {
            $0.set("2.5.29.15", ASN1.bitString([0x84], unused: 2))
        },
        Flaw(.leafKeyUsage, "a key for encryption alone") { $0.set("2.5.29.15", ASN1.bitString([0x20], unused: 5)) },
        Flaw(.missingExtendedKeyUsage, "no purpose") { $0.remove("2.5.29.37") },
        Flaw(.missingServerAuthentication, "Netscape's purpose") {
            $0.set("2.5.29.37", ASN1.sequence(ASN1.object("2.16.840.1.113730.4.1")))
        },
        Flaw(.missingServerAuthentication, "an authority of Microsoft's purpose", authority: true) {
            $0.set("2.5.29.37", ASN1.sequence(ASN1.object("1.3.6.1.4.1.311.10.3.3")))
        },
        Flaw(.anyExtendedKeyUsage, "servers and anything") {
            $0.set(
                "2.5.29.37", ASN1.sequence(ASN1.object("1.3.6.1.5.5.7.3.1"), ASN1.object("2.5.29.37.0")))
        },
        Flaw(.mixedExtendedKeyUsage, "servers and code") {
            $0.set(
                "2.5.29.37", ASN1.sequence(ASN1.object("1.3.6.1.5.5.7.3.1"), ASN1.object("1.3.6.1.5.5.7.3.3")))
        },
    ]

    private static func named(_ names: [UInt8]...) -> @Sendable (inout CertificateTemplate) -> Void {
        { $0.set("2.5.29.17", ASN1.sequence(of: [ASN1.host("localhost")] + names)) }
    }

    private static let names: [Flaw] = [
        Flaw(.criticalSubjectAlternativeName, "critical beside a subject") { $0.set("2.5.29.17", critical: true) },
        Flaw(.subjectAlternativeNameCriticality, "no subject") { $0.subject = ASN1.name(nil) },
        Flaw(.wildcardPlacement, "inside a label", make: named(ASN1.host("f*o.example.com"))),
        Flaw(.wildcardPlacement, "in another label", make: named(ASN1.host("a.*.example.com"))),
        Flaw(.wildcardPlacement, "twice", make: named(ASN1.host("*.*.example.com"))),
        Flaw(.wildcardPlacement, "alone", make: named(ASN1.host("*"))),
        Flaw(.wildcardPlacement, "inside an A-label", make: named(ASN1.host("xn--*.example.com"))),
        Flaw(.wildcardOfTopLevel, "all of a top level", make: named(ASN1.host("*.com"))),
        Flaw(.dnsNameUnderscore, "an underscore", make: named(ASN1.host("a_b.example.com"))),
        Flaw(.dnsNameSyntax, "a NUL", make: named(ASN1.host("example.com\0.evil.example"))),
        Flaw(.dnsNameSyntax, "a dot at its end", make: named(ASN1.host("example.com."))),
        Flaw(.dnsNameSyntax, "a dot at its beginning", make: named(ASN1.host(".example.com"))),
        Flaw(.dnsNameSyntax, "nothing", make: named(ASN1.host(""))),
        Flaw(.dnsNameSyntax, "a space", make: named(ASN1.host(" "))),
        Flaw(.dnsNameSyntax, "an address", make: named(ASN1.host("192.0.2.1"))),
        Flaw(.dnsNameSyntax, "an address of version 6", make: named(ASN1.host("2001:db8::1"))),
        Flaw(.dnsNameSyntax, "a URL", make: named(ASN1.host("https://example.com"))),
        Flaw(.dnsNameSyntax, "UTF-8", make: named(ASN1.host("bücher.example"))),
        Flaw(.dnsNameSyntax, "a hyphen at an end", make: named(ASN1.host("example-.com"))),
        Flaw(
            .dnsNameSyntax, "a label of 64",
            make: named(ASN1.host(String(repeating: "a", count: 64) + ".example.com"))),
        Flaw(.reservedLabel, "neither A-label nor free", make: named(ASN1.host("ab--c.example.com"))),
        Flaw(.reservedLabel, "an A-label without Punycode", make: named(ASN1.host("xn--.example.com"))).breaksOthers,
        Flaw(.reservedLabel, "an A-label of bad Punycode", make: named(ASN1.host("xn--99999999.example.com"))),
        Flaw(.addressSyntax, "five octets", make: named(ASN1.address([1, 2, 3, 4, 5]))),
        Flaw(.addressSyntax, "a network", make: named(ASN1.address([192, 0, 2, 0, 255, 255, 255, 0]))),
        Flaw(.commonNameNotInNames, "another name") { $0.subject = ASN1.name("example.com") },
    ]

    private static func rsa(_ modulus: [UInt8], _ exponent: [UInt8] = [1, 0, 1]) -> [UInt8] {
        let key = ASN1.sequence(ASN1.positive(modulus), ASN1.positive(exponent))
        return ASN1.sequence(
            ASN1.sequence(ASN1.object("1.2.840.113549.1.1.1"), ASN1.null), ASN1.bitString(key))
    }

    /// 2^(8 * count) - 1 has small factors; this one has none below 752, and is not an actual key.
    private static func modulus(_ count: Int, first: UInt8 = 0xC0) -> [UInt8] {
        var number = [first] + [UInt8](repeating: 0, count: count - 2) + [1]
        func rest(_ prime: Int) -> Int { number.reduce(0) { ($0 << 8 | Int($1)) % prime } }
        let primes = (3..<752).filter { candidate in (2..<candidate).allSatisfy { candidate % $0 != 0 } }
        while primes.contains(where: { rest($0) == 0 }) {
            var index = number.count - 1
            var carry = 2
            while carry > 0 {
                carry += Int(number[index])
                number[index] = UInt8(carry & 0xFF)
                carry >>= 8
                index -= 1
            }
        }
        return number
    }

    private static let keys: [Flaw] = [
        Flaw(.explicitCurveParameters, "P-256 written out", passesOpenSSL: false) {
            $0.publicKey = ecKey("P-256", explicit: true)
        },
        Flaw(.ellipticCurve, "secp256k1") { $0.publicKey = ecKey("secp256k1") },
        Flaw(.ellipticCurve, "brainpool") { $0.publicKey = ecKey("brainpoolP256r1") },
        Flaw(.ellipticCurve, "P-224") { $0.publicKey = ecKey("P-224") },
        Flaw(.keyParameters, "RSA without parameters") {
            let key = ASN1.sequence(ASN1.positive(modulus(256)), ASN1.positive([1, 0, 1]))
            $0.publicKey = ASN1.sequence(ASN1.sequence(ASN1.object("1.2.840.113549.1.1.1")), ASN1.bitString(key))
        },
        Flaw(.rsaKeySize, "1024 bits") { $0.publicKey = rsa(modulus(128)) },
        Flaw(.rsaKeySize, "2040 bits") { $0.publicKey = rsa(modulus(255)) },
        Flaw(.rsaModulusSize, "2049 bits") { $0.publicKey = rsa(modulus(257, first: 1)) },
        Flaw(.rsaModulus, "even") { $0.publicKey = rsa(modulus(256).dropLast() + [2]) },
        Flaw(.rsaModulus, "a multiple of 3") { $0.publicKey = rsa([UInt8](repeating: 0xFF, count: 256)) },
        Flaw(.rsaExponent, "1") { $0.publicKey = rsa(modulus(256), [1]) },
        Flaw(.rsaExponent, "even") { $0.publicKey = rsa(modulus(256), [1, 0, 0]) },
        Flaw(.keyKind, "X25519") {
            $0.publicKey = ASN1.sequence(
                ASN1.sequence(ASN1.object("1.3.101.110")), ASN1.bitString([UInt8](repeating: 9, count: 32)))
        },
    ]

    private static let signatures: [Flaw] = [
        Flaw(.signatureAlgorithmMismatch, "two that differ", passesOpenSSL: false) {
            $0.outerAlgorithm = ASN1.sequence(ASN1.object("1.2.840.10045.4.3.3"))
        },
        Flaw(.sha1Signatures, "ECDSA with SHA-1") { $0.digest = "SHA1" },
        Flaw(.signatureAlgorithm, "ECDSA with SHA-224") { $0.digest = "SHA224" },
        Flaw(.signatureAlgorithm, "parameters that do not belong there") {
            $0.algorithm = ASN1.sequence(ASN1.object("1.2.840.10045.4.3.2"), ASN1.null)
        },
    ]

    private static func excluding(_ name: [UInt8]) -> [UInt8] {
        ASN1.sequence(ASN1.value(0xA1, ASN1.sequence(name)))
    }

    private static func ecKey(_ curve: String, explicit: Bool = false) -> [UInt8] {
        guard let key = linnet_EVP_EC_gen(curve) else { return [] }
        defer { EVP_PKEY_free(key) }
        if explicit { EVP_PKEY_set_utf8_string_param(key, "encoding", "explicit") }
        var out: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(key, &out)
        guard count > 0, let out else { return [] }
        defer { CRYPTO_free(out, #file, #line) }
        return Array(UnsafeBufferPointer(start: out, count: Int(count)))
    }
}

extension StrictRuleTests.Flaw {
    /// The same for certificates that OpenSSL does not accept.
    var refusedByOpenSSL: Self {
        Self(rule, description, authority: isAuthoritys, passesOpenSSL: false, make: make)
    }

    /// The same for certificates that violate another rule as well.
    var breaksOthers: Self {
        var flaw = self
        flaw.isAllowable = false
        return flaw
    }
}
