import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Rules at their boundaries, each checked alone.
@Suite("Rules at their boundaries", .timeLimit(.minutes(1)))
struct RuleBoundaryTests {
    private static func finding(
        _ rule: ChainRule, _ profile: ChainProfile = .strict, at position: ChainLink.Position = .leaf,
        of change: (inout UnsignedCertificate) -> Void
    ) throws -> String? {
        var certificate = UnsignedCertificate()
        change(&certificate)
        return rule.check(ChainLink(facts: try certificate.facts, position: position, profile: profile))
    }

    @Test func positionsAreDistinct() {
        let all: [ChainLink.Position] = [.leaf, .intermediate, .ownAnchor, .issuingAnchor]
        for (index, one) in all.enumerated() {
            for other in all[(index + 1)...] { #expect(one.isDisjoint(with: other)) }
        }
        #expect(ChainLink.Position.belowAnchor == [.leaf, .intermediate])
        #expect(ChainLink.Position.anchor == [.ownAnchor, .issuingAnchor])
        #expect(ChainLink.Position.all == [.belowAnchor, .anchor])
        #expect((0..<3).map { ChainVerifier.position($0, of: 3) } == [.leaf, .intermediate, .issuingAnchor])
        #expect((0..<2).map { ChainVerifier.position($0, of: 2) } == [.leaf, .issuingAnchor])
        #expect(ChainVerifier.position(0, of: 1) == .ownAnchor)
    }

    @Test(arguments: [(-1, 0), (0, 0), (1, 1), (9, 9), (10, 10), (11, 10), (.max, 10), (.min, 0)] as [(Int, Int32)])
    func depthIsFromZeroToTen(maximum: Int, depth: Int32) {
        var profile = ChainProfile.default
        #expect(profile.maximumDepth == 10 && profile.depth == 10)
        profile.maximumDepth = maximum
        #expect(profile.depth == depth)
    }

    /// OpenSSL's level has all of three rules (112 bits).
    @Test func levelOfOpenSSLIsForThreeRules() {
        let profiles = [ChainProfile.default, .strict, .lenient]
        #expect(profiles.map(\.securityLevel) == [2, 2, 2])
        for rule in [ChainRule.sha1Signatures, .md5Signatures, .rsaKeySize] {
            #expect(profiles.map { $0.allowing(rule).securityLevel } == [0, 0, 0])
            #expect(profiles.map { $0.allowing(rule).enforcing(rule).securityLevel } == [2, 2, 2])
        }
        #expect(ChainProfile.default.allowing(.ellipticCurve).securityLevel == 2)
        #expect(profiles.map(\.checksPolicies) == [true, true, false])
    }

    private static let longest = [0x7F] + [UInt8](repeating: 0xFF, count: 19)

    @Test(
        arguments: [
            ([1], nil), ([0x7F], nil), ([0, 0x80], nil), (longest, nil), ([0], "has 0"), ([0, 0], "has 0"),
            ([0x80], "negative"), ([0xFF, 0xFF], "negative"), ([], "negative"), (longest + [0], "of 21 octets"),
        ] as [([UInt8], String?)])
    func serialNumberIsPositiveAndOf20Octets(octets: [UInt8], text: String?) throws {
        let found = try Self.finding(.serialNumber) { $0.serialNumber = ASN1.integer(octets) }
        #expect((found == nil) == (text == nil) && found?.contains(text ?? "") ?? true)
    }

    @Test func namesOfIssuersAndAuthoritiesAreNotEmpty() throws {
        #expect(try Self.finding(.emptyIssuer) { _ in } == nil)
        #expect(try Self.finding(.emptyIssuer) { $0.issuer = ASN1.sequence() } == "names no issuer")
        #expect(try Self.finding(.emptySubject) { _ in } == nil)
        #expect(try Self.finding(.emptySubject) { $0.subject = ASN1.sequence() } == "names no subject")
        #expect(try Self.finding(.certificateVersion) { _ in } == nil)
        #expect(try Self.finding(.certificateVersion) { $0.version = [] } == "is of version 1")
    }

    /// Both seconds at the ends belong to the validity (RFC 5280, 4.1.2.5).
    @Test(
        arguments: [
            ("250102235959Z", 2, nil), ("250103000000Z", 2, "is valid for 2 days, more than 2"),
            ("250104000000Z", 2, "is valid for 3 days, more than 2"), ("250101000000Z", 1, nil),
        ] as [(String, Int, String?)])
    func lifetimeIsLimited(end: String, days: Int, text: String?) throws {
        var profile = ChainProfile.strict
        let change: (inout UnsignedCertificate) -> Void = {
            $0.validity = ASN1.sequence(ASN1.utcTime("250101000000Z"), ASN1.utcTime(end))
        }
        #expect(try Self.finding(.leafLifetime, profile, of: change) == nil)
        profile.maximumLeafLifetime = .seconds(days * 86_400)
        #expect(try Self.finding(.leafLifetime, profile, of: change) == text)
        let unreadable = try Self.finding(.leafLifetime, profile) {
            $0.validity = ASN1.sequence(ASN1.utcTime("250101000000Z"), ASN1.utcTime("never"))
        }
        #expect(unreadable == "writes its validity in a way that is not allowed")
    }

    /// Only an authority whose key signs certificates limits a path (RFC 5280, 4.2.1.9).
    @Test(
        arguments: [
            (ASN1.sequence(ASN1.yes, ASN1.integer(0)), [0x04], true),
            (ASN1.sequence(ASN1.yes, ASN1.integer(0)), [], true),
            (ASN1.sequence(ASN1.yes, ASN1.integer(0)), [0x80], false), (ASN1.sequence(ASN1.integer(0)), [0x04], false),
            (ASN1.sequence(ASN1.integer(0)), [], false), (ASN1.sequence(ASN1.yes), [0x80], true),
            (ASN1.sequence(), [0x80], true),
        ] as [([UInt8], [UInt8], Bool)])
    func pathIsLimitedByAuthorities(constraints: [UInt8], usage: [UInt8], isAllowed: Bool) throws {
        let unused: UInt8 = usage == [0x04] ? 2 : 7
        let found = try Self.finding(.pathLengthWithoutAuthority) {
            $0.extend(
                [.init("2.5.29.19", constraints)]
                    + (usage.isEmpty ? [] : [.init("2.5.29.15", ASN1.bitString(usage, unused: unused))]))
        }
        #expect((found == nil) == isAllowed)
    }

    // MARK: Keys

    /// A number of this many bits, the last of which is set.
    private static func number(_ bits: Int) -> [UInt8] {
        let first = UInt8(1) << UInt8((bits - 1) % 8)
        return [first] + [UInt8](repeating: 0, count: (bits - 1) / 8 - 1) + [1]
    }

    @Test(
        arguments: [
            (2048, 2048, nil), (2047, 2048, "of 2047 bits, less than 2048"), (2049, 2048, nil), (3072, 3072, nil),
            (3071, 3072, "of 3071 bits, less than 3072"),
        ] as [(Int, Int, String?)])
    func modulusHasAMinimumSize(bits: Int, minimum: Int, text: String?) throws {
        var profile = ChainProfile.strict
        #expect(profile.keys.minimumRSABits == 2048)
        profile.keys.minimumRSABits = minimum
        let found = try Self.finding(.rsaKeySize, profile) { $0.publicKey = UnsignedCertificate.rsa(Self.number(bits)) }
        #expect(found == text.map { "has an RSA key " + $0 })
        let size = try Self.finding(.rsaModulusSize) { $0.publicKey = UnsignedCertificate.rsa(Self.number(bits)) }
        #expect((size == nil) == (bits % 8 == 0))
    }

    @Test(
        arguments: [
            ([1], "the exponent 1"), ([2], "even"), ([3], nil), ([1, 0, 0], "even"), ([1, 0, 1], nil), ([1, 1], nil),
            ([], "even"),
        ] as [([UInt8], String?)])
    func exponentIsOddAndAtLeast3(exponent: [UInt8], text: String?) throws {
        let found = try Self.finding(.rsaExponent) {
            $0.publicKey = UnsignedCertificate.rsa(Self.number(2048), exponent.isEmpty ? [0] : exponent)
        }
        #expect((found == nil) == (text == nil) && found?.contains(text ?? "") ?? true)
    }

    @Test func rulesAboutRSAAreForRSA() throws {
        for rule in [ChainRule.rsaKeySize, .rsaModulusSize, .rsaModulus, .rsaExponent, .keyKind, .ellipticCurve] {
            #expect(try Self.finding(rule) { _ in } == nil, "\(rule)")
        }
        let unreadable = UnsignedCertificate.key("1.2.840.113549.1.1.1", ASN1.null, [])
        #expect(try Self.finding(.rsaKeySize) { $0.publicKey = unreadable } == "has an RSA key that cannot be read")
        let three = UnsignedCertificate.rsa([UInt8](repeating: 0xFF, count: 256))
        #expect(
            try Self.finding(.rsaModulus) { $0.publicKey = three } == "has an RSA key whose modulus can be divided by 3"
        )
    }

    @Test func kindOfAKeyIsAccepted() throws {
        let curve = UnsignedCertificate.key("1.2.840.10045.2.1", ASN1.object("1.3.132.0.33"))
        let written = UnsignedCertificate.key("1.2.840.10045.2.1", ASN1.sequence())
        let foreign = UnsignedCertificate.key("1.3.101.110")
        for (key, kind, named, explicit) in [
            (curve, false, true, false), (written, false, false, true), (foreign, true, false, false),
        ] {
            #expect((try Self.finding(.keyKind) { $0.publicKey = key } != nil) == kind)
            #expect((try Self.finding(.ellipticCurve) { $0.publicKey = key } != nil) == named)
            #expect((try Self.finding(.explicitCurveParameters) { $0.publicKey = key } != nil) == explicit)
        }
        #expect(try Self.finding(.keyKind) { $0.publicKey = foreign } == "has a key of the unknown kind 1.3.101.110")
        var profile = ChainProfile.strict
        profile.keys.kinds = [.p384]
        #expect(
            try Self.finding(.keyKind, profile) { _ in } == "has a key of the kind P-256, which is not accepted")
    }

    // MARK: Signatures

    private static func rsa(_ number: Int) -> [UInt8] {
        ASN1.sequence(ASN1.object("1.2.840.113549.1.1.\(number)"), ASN1.null)
    }

    private static func ecdsa(_ number: Int) -> [UInt8] { ASN1.sequence(ASN1.object("1.2.840.10045.4.3.\(number)")) }

    /// RSASSA-PSS-params (RFC 4055, 3.1) with one digest for both uses.
    private static func pss(_ number: Int, salt: UInt8) -> [UInt8] {
        let digest = ASN1.sequence(ASN1.object("2.16.840.1.101.3.4.2.\(number)"), ASN1.null)
        let mask = ASN1.sequence(ASN1.object("1.2.840.113549.1.1.8"), digest)
        let parameters = ASN1.sequence(
            ASN1.value(0xA0, digest), ASN1.value(0xA1, mask), ASN1.value(0xA2, ASN1.integer(salt)))
        return ASN1.sequence(ASN1.object("1.2.840.113549.1.1.10"), parameters)
    }

    @Test(
        arguments: [
            (rsa(11), .rsaSHA256), (rsa(12), .rsaSHA384), (rsa(13), .rsaSHA512), (pss(1, salt: 32), .rsaPSSSHA256),
            (pss(2, salt: 48), .rsaPSSSHA384), (pss(3, salt: 64), .rsaPSSSHA512), (ecdsa(2), .ecdsaSHA256),
            (ecdsa(3), .ecdsaSHA384), (ecdsa(4), .ecdsaSHA512), (ASN1.sequence(ASN1.object("1.3.101.112")), .ed25519),
            (ASN1.sequence(ASN1.object("1.3.101.113")), .ed448),
        ] as [([UInt8], ChainProfile.SignatureAlgorithm)])
    func algorithmHasOneEncoding(encoding: [UInt8], algorithm: ChainProfile.SignatureAlgorithm) throws {
        #expect(algorithm.encoding == encoding)
        var profile = ChainProfile.strict
        profile.keys.signatures = [algorithm]
        #expect(try Self.finding(.signatureAlgorithm, profile) { $0.algorithm = encoding } == nil)
        profile.keys.signatures = []
        let refused = try Self.finding(.signatureAlgorithm, profile) { $0.algorithm = encoding }
        #expect(refused == "is signed with \(algorithm), which is not accepted")
    }

    @Test(
        arguments: [
            (rsa(2), .md5), (rsa(3), .md5), (rsa(4), .md5), (rsa(5), .sha1), (rsa(1), nil), (rsa(6), nil),
            (rsa(11), nil),
            (rsa(14), nil), (ASN1.sequence(ASN1.object("1.2.840.10045.4.1")), .sha1),
            (ASN1.sequence(ASN1.object("1.2.840.10040.4.3")), .sha1),
            (ASN1.sequence(ASN1.object("1.3.14.3.2.29")), .sha1),
            (ecdsa(1), nil), (ASN1.sequence(ASN1.object("1.3.14.3.2.26")), nil),
            (ASN1.sequence(ASN1.object("1.2.840.113549.1.1.10")), .sha1),
        ] as [([UInt8], WeakDigest?)])
    func weakDigestIsKnownByTheAlgorithm(encoding: [UInt8], digest: WeakDigest?) throws {
        var certificate = UnsignedCertificate()
        certificate.algorithm = encoding
        #expect(try WeakDigest(certificate.facts.signature) == digest)
        #expect((try Self.finding(.md5Signatures) { $0.algorithm = encoding } != nil) == (digest == .md5))
        #expect((try Self.finding(.sha1Signatures) { $0.algorithm = encoding } != nil) == (digest == .sha1))
        guard digest == nil, encoding != Self.rsa(11) else { return }
        let text = try Self.finding(.signatureAlgorithm) { $0.algorithm = encoding }
        #expect(text?.contains("or with parameters of it, which are not accepted") == true)
    }

    // MARK: Anchors

    private static func anchor(_ extensions: [CertificateTemplate.Extension], serial: [UInt8] = [1]) throws -> String? {
        try finding(.flawedAnchor, at: .issuingAnchor) {
            ($0.subject, $0.serialNumber) = ($0.issuer, ASN1.integer(serial))
            $0.extend([.init("2.5.29.19", ASN1.sequence(ASN1.yes))] + extensions)
        }
    }

    private static func key(_ parts: [UInt8]...) -> [UInt8] { ASN1.sequence(of: parts) }

    @Test(
        arguments: [
            ([], [1], nil), ([], [0x80], "negative"), ([], [0x7F], nil), ([], [0, 0x80], nil),
            ([.init("2.5.29.37", key(ASN1.object("1.2.3")))], [1], "names purposes"),
            ([.init("1.2.3", critical: true, [])], [1], "critical extension 1.2.3"), ([.init("1.2.3", [])], [1], nil),
            ([.init("2.5.29.15", critical: true, [])], [1], nil),
            ([.init("2.5.29.35", key(ASN1.value(0x80, [1])))], [1], nil),
            ([.init("2.5.29.35", ASN1.null)], [1], "cannot be read"),
            ([.init("2.5.29.35", key())], [1], "without a key"),
            (
                [.init("2.5.29.35", key(ASN1.value(0x80, [1]))), .init("2.5.29.14", ASN1.octetString([1]))], [1], nil
            ),
            (
                [.init("2.5.29.35", key(ASN1.value(0x80, [1]))), .init("2.5.29.14", ASN1.octetString([2]))], [1],
                "another key"
            ),
            (
                [.init("2.5.29.35", key(ASN1.value(0x80, [1]), ASN1.value(0xA1, []), ASN1.value(0x82, [5])))], [5], nil
            ),
            (
                [.init("2.5.29.35", key(ASN1.value(0x80, [1]), ASN1.value(0xA1, []), ASN1.value(0x82, [5])))], [6],
                "another serial number"
            ),
        ] as [([CertificateTemplate.Extension], [UInt8], String?)])
    func anchorIsFlawless(extensions: [CertificateTemplate.Extension], serial: [UInt8], text: String?) throws {
        let found = try Self.anchor(extensions, serial: serial)
        #expect((found == nil) == (text == nil) && found?.contains(text ?? "") ?? true, "\(found ?? "none")")
    }

    @Test func anchorIsAnAuthority() throws {
        let text = "issues, and does not say that it is an authority"
        #expect(try Self.finding(.flawedAnchor, at: .issuingAnchor) { _ in } == text)
        let leaf = try Self.finding(.flawedAnchor, at: .issuingAnchor) {
            $0.extend([.init("2.5.29.19", ASN1.sequence())])
        }
        #expect(leaf == text)
        // Another issuer's identifiers are its own matter.
        let crossed = try Self.finding(.flawedAnchor, at: .issuingAnchor) {
            $0.extend([.init("2.5.29.19", ASN1.sequence(ASN1.yes)), .init("2.5.29.35", ASN1.null)])
        }
        #expect(crossed == nil)
    }

    // MARK: Names

    private static func named(_ names: [UInt8]..., common: String? = "Server") -> (inout UnsignedCertificate) -> Void {
        {
            $0.subject = ASN1.name(common)
            $0.extend([.init("2.5.29.17", ASN1.sequence(of: names))])
        }
    }

    @Test(arguments: [
        (0, true), (3, true), (4, false), (5, true), (8, true), (15, true), (16, false), (17, true), (32, true),
    ])
    func addressHasFourOctetsOrSixteen(count: Int, isWrong: Bool) throws {
        let address = ASN1.address([UInt8](repeating: 1, count: count))
        let found = try Self.finding(.addressSyntax, of: Self.named(ASN1.address([1, 2, 3, 4]), address))
        #expect(found == (isWrong ? "is for an address of \(count) octets" : nil))
    }

    @Test(
        arguments: [
            ("a.example", [ASN1.host("b.example"), ASN1.host("a.example")], true),
            ("a.example", [ASN1.host("b.example")], false), ("a.example", [], false),
            ("A.example", [ASN1.host("a.example")], false), ("192.0.2.1", [ASN1.address([192, 0, 2, 1])], true),
            ("192.0.2.1", [ASN1.address([192, 0, 2, 2])], false),
            ("192.0.2.1", [ASN1.address([192, 0, 2, 1, 0])], false),
            ("::1", [ASN1.address([UInt8](repeating: 0, count: 15) + [1])], true),
            ("a@b", [Part.mail("a@b")], false), ("s://a", [Part.uri("s://a")], false),
        ] as [(String, [[UInt8]], Bool)])
    func commonNameIsOneOfTheNames(common: String, names: [[UInt8]], isOne: Bool) throws {
        let found = try Self.finding(.commonNameNotInNames) {
            $0.subject = ASN1.name(common)
            $0.extend([.init("2.5.29.17", ASN1.sequence(of: names))])
        }
        #expect((found == nil) == isOne)
        #expect(try Self.finding(.commonNameNotInNames, of: Self.named(ASN1.host("a"), common: nil)) == nil)
    }

    @Test func alternativeNamesAreCriticalWithoutASubject() throws {
        let names = ASN1.sequence(ASN1.host("a"))
        for (subject, critical, needed, forbidden) in [
            (ASN1.name("a"), false, false, false), (ASN1.name("a"), true, false, true),
            (ASN1.sequence(), false, true, false), (ASN1.sequence(), true, false, false),
        ] {
            let change: (inout UnsignedCertificate) -> Void = {
                $0.subject = subject
                $0.extend([.init("2.5.29.17", critical: critical, names)])
            }
            #expect((try Self.finding(.subjectAlternativeNameCriticality, of: change) != nil) == needed)
            #expect((try Self.finding(.criticalSubjectAlternativeName, of: change) != nil) == forbidden)
        }
        let bare = try Self.finding(.subjectAlternativeNameCriticality) { $0.subject = ASN1.sequence() }
        #expect(bare == "has neither a subject nor other names")
    }

    @Test func serverIsNamed() throws {
        #expect(try Self.finding(.missingSubjectAlternativeName) { _ in } == "has no subject alternative name")
        #expect(try Self.finding(.missingSubjectAlternativeName, of: Self.named()) == nil)
        #expect(try Self.finding(.emptySubjectAlternativeName, of: Self.named()) != nil)
        let mail = Self.named(Part.mail("a@b"))
        #expect(try Self.finding(.missingSubjectAlternativeName, of: mail) == "names no host and no address")
        #expect(try Self.finding(.emptySubjectAlternativeName, of: mail) == nil)
        #expect(try Self.finding(.emptySubjectAlternativeName) { _ in } == nil)
        #expect(
            try Self.finding(.missingSubjectAlternativeName, of: Self.named(Part.mail("a@b"), ASN1.host("a"))) == nil)
    }

    @Test(
        arguments: [
            ("*.com", .wildcardOfTopLevel), ("*.example.com", nil), ("com", nil), ("*.", .wildcardOfTopLevel),
            ("*.*.com", .wildcardPlacement), ("a*.example.com", .wildcardPlacement), ("*", .wildcardPlacement),
            ("a_b.com", .dnsNameUnderscore), ("example.com", nil),
        ] as [(String, ChainRule?)])
    func wildcardsAndUnderscoresHaveTheirRules(host: String, broken: ChainRule?) throws {
        for rule in [ChainRule.wildcardOfTopLevel, .wildcardPlacement, .dnsNameUnderscore] {
            let found = try Self.finding(rule, of: Self.named(ASN1.host("good.example"), ASN1.host(host)))
            #expect((found != nil) == (rule == broken), "\(rule)")
        }
    }
}

/// Host names of certificates and their labels (RFC 1034, 3.5; RFC 5890, 2.3.1).
@Suite("Labels of hosts", .timeLimit(.minutes(1)))
struct HostLabelTests {
    private static func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
    /// A name of some octets in labels of one.
    private static func long(_ count: Int) -> String {
        count % 2 == 0 ? repeated("a.", count / 2 - 1) + "aa" : repeated("a.", count / 2) + "a"
    }

    @Test(
        arguments: [
            ("a", true), ("a.b", true), ("a-b.example", true), ("1a.example", true), ("1.example", true),
            ("A.Z.a.z.0.9x", true), ("*.example.com", true), ("a_b.example", true), (repeated("a", 63) + ".b", true),
            (long(253), true), (long(252), true), ("example.1a", true), ("a.b*", true),
            ("", false), (".", false), ("a.", false), (".a", false), ("a..b", false), ("*.", false),
            ("-a.b", false), ("a-.b", false), ("a.-", false), ("-", false), (repeated("a", 64) + ".b", false),
            (long(254), false), (long(255), false), ("a.1", false), ("192.0.2.1", false), ("1", false), ("0", false),
            ("a.0123456789", false), ("a b", false), ("a/b", false), ("a:b", false), ("a@b", false), ("a[b", false),
            ("a`b", false), ("a{b", false), ("bücher", false), ("a\0b", false),
        ] as [(String, Bool)])
    func nameHasThePreferredSyntax(text: String, isPreferred: Bool) {
        #expect(CertifiedHost(Array(text.utf8)).isPreferredSyntax == isPreferred)
    }

    @Test func wildcardIsNoLabel() {
        let host = CertifiedHost(Array("*.a.b".utf8))
        #expect(host.isWildcard && host.labels == ["a", "b"] && host.text == "*.a.b")
        let plain = CertifiedHost(Array("a*.b.".utf8))
        #expect(!plain.isWildcard && plain.labels == ["a*", "b", ""])
    }

    /// A label with hyphens in its third and fourth places is reserved unless it is an A-label.
    @Test(
        arguments: [
            ("a", false), ("ab-c", false), ("a--b", false), ("ab-", false), ("ab--", true), ("ab--c", true),
            ("abc--d", false),
            ("xn--", true), ("xn--a", false), ("XN--A", false), ("xn--a-", true), ("xn---a", true), ("xn--*", false),
            ("ab--*", false), ("xm--a", true), ("xo--bcher-kva", true), ("xn--bcher-kva", false), ("yxn--a", false),
        ] as [(String, Bool)])
    func labelIsReserved(label: String, isReserved: Bool) {
        #expect(HostLabel.isReserved(label[...]) == isReserved)
    }

    /// Russian and Japanese of RFC 3492, 7.1, then texts whose decoding depends on each step of 6.1 and 6.2.
    @Test(arguments: [
        "b1abfaaepdrnnbgefbaDotcwatmq2g4l", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa", "3B-ww4c5e180e575a65lsy2b", "a",
        "aa",
        "bcher-kva", "ihqwcrb4cv8a8dqg056pqjye", "qw7b3pd", "wg3tu9r3g", "h6jc3ri", "a-9ea3302ey950r",
        "aa-ba32238fw704ica", "a-gfa5c8491bhyva54787c",
        "989aomsvi5e83db1d2a355cv1e0vak1dwrv93d5xbh15a0dt30a5jpsd879ccm6fea98c",
        // U+10FFFF, U+D7FF and U+E000.
        "dn32g", "DN32G", "hb9b", "0y0c",
    ])
    func labelOfPunycodeIsAnALabel(text: String) {
        #expect(!HostLabel.isReserved("xn--\(text)"))
        #expect(!HostLabel.isReserved("XN--\(text)"))
        #expect(HostLabel.isReserved("xm--\(text)"))
    }

    @Test(arguments: [
        "", "a-", "-a", "-", "b", "99999999", "99999999999999", "9999999999999999999999", "avetwt4ul", "xjvr8ft",
        "fikt",
        "0utd70jqx", "3e5kcst", "g9hv", "a-_", "a-é",
        // U+110000, U+D800 and U+DFFF.
        "en32g", "ib9b", "zy0c",
    ])
    func labelOfOtherTextIsReserved(text: String) {
        #expect(HostLabel.isReserved("xn--\(text)"))
    }
}
