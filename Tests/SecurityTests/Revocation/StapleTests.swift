import COpenSSL
import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Stapled responses (RFC 6960, 4.2.1), field by field.
@Suite("Stapled responses", .timeLimit(.minutes(1)))
struct StapleTests {
    /// A digest that identifies an issuer.
    struct Digest: Sendable {
        let identifier: String
        let compute: @Sendable ([UInt8]) -> [UInt8]

        private init(_ identifier: String, _ name: String) {
            self.identifier = identifier
            compute = { bytes in
                var digest = [UInt8](repeating: 0, count: 64)
                var count: UInt32 = 0
                EVP_Digest(bytes, bytes.count, &digest, &count, EVP_get_digestbyname(name), nil)
                return Array(digest.prefix(Int(count)))
            }
        }

        static let sha1 = Digest("1.3.14.3.2.26", "SHA1")
        static let sha224 = Digest("2.16.840.1.101.3.4.2.4", "SHA224")
        static let sha256 = Digest("2.16.840.1.101.3.4.2.1", "SHA256")
        static let sha384 = Digest("2.16.840.1.101.3.4.2.2", "SHA384")
        static let sha512 = Digest("2.16.840.1.101.3.4.2.3", "SHA512")
    }

    /// A SingleResponse, by default good and valid from now on for an hour.
    struct Single: Sendable {
        var status = Self.good
        var digest = Digest.sha1
        var serialNumber: [UInt8] = [0x01, 0x23, 0x45]
        /// In seconds from the time of the check; nil if there is no `nextUpdate`.
        var (thisUpdate, nextUpdate): (Int, Int?) = (0, 3600)
        var extensions: [CertificateTemplate.Extension] = []

        static let good = ASN1.value(0x80, [])
        static let revoked = ASN1.value(0xA1, ASN1.generalizedTime("20250102030405Z"))
        static let unknown = ASN1.value(0x82, [])
    }

    private static let now = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

    private let pki: TestPKI
    private let issuer: ForgedCertificate
    private let leaf: X509Handle

    init() throws {
        pki = try TestPKI()
        issuer = try TestPKI.forgeRoot(.authority("Issuer"))
        leaf = try pki.forge(.server(), by: issuer).certificate.handle
    }

    private static func time(_ offset: Int) -> [UInt8] {
        let text = now.addingTimeInterval(TimeInterval(offset)).formatted(.iso8601).filter(\.isNumber)
        return ASN1.generalizedTime(text + "Z")
    }

    private func single(_ single: Single) throws -> [UInt8] {
        let issuer = try issuer.certificate.handle
        let name = try #require(issuer.facts).subject
        let info = DER(bytes: [UInt8](issuer.subjectPublicKeyInfo))
        var cursor = info.cursor(try info.root(DER.Tag.sequence))
        _ = try cursor.next()
        let key = Array(info.content(try cursor.next()).dropFirst())
        let id = ASN1.sequence(
            ASN1.sequence(ASN1.object(single.digest.identifier), ASN1.null),
            ASN1.octetString(single.digest.compute(name)), ASN1.octetString(single.digest.compute(key)),
            ASN1.integer(single.serialNumber))
        return ASN1.sequence(
            id, single.status, Self.time(single.thisUpdate),
            single.nextUpdate.map { ASN1.value(0xA0, Self.time($0)) } ?? [], Self.list(single.extensions))
    }

    private static func list(_ extensions: [CertificateTemplate.Extension]) -> [UInt8] {
        extensions.isEmpty ? [] : ASN1.value(0xA1, ASN1.sequence(of: extensions.map(\.der)))
    }

    /// A response that names its responder as CN=Issuer or by another name.
    private func fields(
        _ singles: [Single], responder: [UInt8] = ASN1.name("Issuer"),
        extensions: [CertificateTemplate.Extension] = []
    ) throws -> [UInt8] {
        ASN1.sequence(
            ASN1.value(0xA1, responder), Self.time(0), ASN1.sequence(of: try singles.map(single)),
            Self.list(extensions))
    }

    /// The answer in words.
    private func answer(_ response: Data, allowsSHA1: Bool = false, offset: TimeInterval = 0) throws -> String {
        let staple = OCSPStaple(
            allowsSHA1: allowsSHA1, time: Self.now.addingTimeInterval(offset), skew: .seconds(300))
        return switch try staple.answer(response, about: leaf, issuer.certificate.handle) {
        case .good(let until): "good until \(Int(until.timeIntervalSince(Self.now)))"
        case .revoked(let text): "revoked, \(text)"
        case .unknown(let reason, let text): "\(reason), \(text)"
        case .invalid(let reason, let text): "unusable, \(reason), \(text)"
        }
    }

    private func answer(_ singles: Single...) throws -> String {
        try answer(TestPKI.forgeResponse(fields(singles), by: issuer))
    }

    private static func changed(_ change: (inout Single) -> Void) -> Single {
        var single = Single()
        change(&single)
        return single
    }

    // MARK: Status

    @Test func statusIsRead() throws {
        // The end of the answer, and the tolerated difference of clocks.
        #expect(try answer(Single()) == "good until 3900")
        let revoked = try answer(Self.changed { $0.status = Single.revoked })
        #expect(revoked == "revoked, the stapled response says so on 2025-01-02T03:04:05Z")
        #expect(try answer(Self.changed { $0.status = Single.unknown }).hasPrefix("revocationUnknown"))
    }

    @Test(arguments: [Digest.sha1, .sha256, .sha384, .sha512])
    func issuerIsIdentifiedByADigest(digest: Digest) throws {
        #expect(try answer(Self.changed { $0.digest = digest }).hasPrefix("good"))
    }

    @Test func answerForAnotherCertificateIsNone() throws {
        for other in [Self.changed { $0.serialNumber = [1] }, Self.changed { $0.digest = .sha224 }] {
            #expect(try answer(other) == "stapleInvalid, the stapled response is for other certificates")
        }
        let own = try answer(Self.changed { $0.serialNumber = [1] }, Single())
        #expect(own.hasPrefix("good"))
        #expect(try answer(Self.changed { ($0.serialNumber, $0.status) = ([1], Single.revoked) }, Single()) == own)
    }

    @Test(
        arguments: [
            (-7200, -300, "good until 0"), (-7200, -301, "stapleOutdated, the stapled response expired"),
            (300, 7200, "good until 7500"), (301, 7200, "stapleOutdated, the stapled response is not yet valid"),
            (0, 0, "good until 300"), (1, 0, "stapleInvalid, the stapled response has no validity period"),
            (0, nil, "stapleInvalid, the stapled response has no validity period"),
        ] as [(Int, Int?, String)])
    func answerIsValidForAPeriod(this: Int, next: Int?, text: String) throws {
        let good = Self.changed { ($0.thisUpdate, $0.nextUpdate) = (this, next) }
        #expect(try answer(good).hasPrefix(text))
        // A revocation is permanent.
        let revoked = Self.changed { ($0.thisUpdate, $0.nextUpdate, $0.status) = (this, next, Single.revoked) }
        #expect(try answer(revoked).hasPrefix("revoked"))
    }

    @Test func revocationIsPreferredAmongSeveralAnswers() throws {
        let (good, old) = (Single(), Self.changed { ($0.thisUpdate, $0.nextUpdate) = (-7200, -3600) })
        let (revoked, unknown) = (
            Self.changed { $0.status = Single.revoked }, Self.changed { $0.status = Single.unknown }
        )
        #expect(try answer(good, revoked).hasPrefix("revoked"))
        #expect(try answer(revoked, good).hasPrefix("revoked"))
        #expect(try answer(unknown, old, revoked, good).hasPrefix("revoked"))
        #expect(try answer(unknown, good).hasPrefix("good"))
        #expect(try answer(old, good).hasPrefix("good"))
        #expect(try answer(good, old).hasPrefix("good"))
        #expect(try answer(unknown, old).hasPrefix("revocationUnknown"))
        #expect(try answer(old, unknown).hasPrefix("stapleOutdated"))
    }

    // MARK: Form

    @Test(arguments: [(64, "good"), (65, "stapleInvalid, the stapled response has too many answers")])
    func numberOfAnswersIsLimited(count: Int, text: String) throws {
        let others = (1..<count).map { number in Self.changed { $0.serialNumber = [UInt8(number)] } }
        let response = try TestPKI.forgeResponse(fields(others + [Single()]), by: issuer)
        #expect(try answer(response).hasPrefix(text))
    }

    /// Signatures of Ed25519 have the same length each time.
    @Test(arguments: [(65_536, true), (65_537, false)])
    func bytesAreLimited(count: Int, isRead: Bool) throws {
        var template = CertificateTemplate.authority("Issuer")
        template.keyKind = .ed25519
        let signer = try TestPKI.forgeRoot(template)
        func response(_ octets: Int) throws -> Data {
            let filler = CertificateTemplate.Extension("1.2.3", [UInt8](repeating: 0, count: octets))
            return try TestPKI.forgeResponse(fields([Single()], extensions: [filler]), by: signer)
        }
        let response = try response(65_000 + count - response(65_000).count)
        #expect(response.count == count)
        // Another authority of the issuer's name has signed it.
        let text = isRead ? "the signature of the stapled response is invalid" : "the stapled response cannot be read"
        #expect(try answer(response) == "stapleInvalid, " + text)
    }

    @Test func otherBytesAreNoResponse() throws {
        let response = try TestPKI.forgeResponse(fields([Single()]), by: issuer)
        #expect(try answer(response).hasPrefix("good"))
        for bytes in [Data(), Data([0x30]), response.dropLast(), response + [0], Data("staple".utf8)] {
            #expect(try answer(Data(bytes)) == "stapleInvalid, the stapled response cannot be read")
        }
    }

    /// RFC 6960, 4.2.1: such a response has no answers, whichever bytes come with it.
    @Test(arguments: [1, 2, 3, 5, 6] as [UInt8])
    func responderWithoutAnAnswerIsNotUsed(status: UInt8) throws {
        let response = try TestPKI.forgeResponse(fields([Single()]), status: status, by: issuer)
        #expect(try answer(response).hasPrefix("stapleInvalid, the responder had no answer (status \(status),"))
        let bare = Data(ASN1.sequence(ASN1.value(0x0A, [status])))
        #expect(try answer(bare).hasPrefix("stapleInvalid, the responder had no answer (status \(status),"))
    }

    @Test(arguments: [(false, false), (true, false), (false, true)])
    func criticalExtensionIsNotUnderstood(ofSingle: Bool, ofResponse: Bool) throws {
        for (isCritical, text) in [(false, "good"), (true, "stapleInvalid, the stapled response has a critical")] {
            let own = CertificateTemplate.Extension("1.2.3", critical: isCritical, [5, 0])
            let other = CertificateTemplate.Extension("1.2.4", [5, 0])
            let single = Self.changed { $0.extensions = ofSingle ? [other, own] : [] }
            let response = try TestPKI.forgeResponse(
                fields([single], extensions: ofResponse ? [own, other] : []), by: issuer)
            #expect(try answer(response).hasPrefix(ofSingle || ofResponse ? text : "good"))
        }
    }

    // MARK: Signature

    @Test func digestOfTheSignatureIsStrong() throws {
        var template = CertificateTemplate.authority("Issuer")
        template.keyKind = .rsa2048
        let signer = try TestPKI.forgeRoot(template)
        let leaf = try pki.forge(.server(), by: signer).certificate.handle
        for (digest, isStrong, allowed) in [("SHA256", true, true), ("SHA1", false, true), ("MD5", false, false)] {
            let response = try TestPKI.forgeResponse(fields([Single()]), by: signer, digest: digest)
            for (allowsSHA1, isAccepted) in [(false, isStrong), (true, allowed)] {
                let staple = OCSPStaple(allowsSHA1: allowsSHA1, time: Self.now, skew: .zero)
                let answer = try staple.answer(response, about: leaf, signer.certificate.handle)
                guard case .unknown(.stapleInvalid, let text) = answer else {
                    Issue.record("\(answer)")
                    continue
                }
                // The answer identifies another issuer's key.
                let wanted = isAccepted ? "is for other certificates" : "is signed with SHA-1 or MD5"
                #expect(text == "the stapled response " + wanted, "\(digest), \(allowsSHA1)")
            }
        }
        let foreign = ASN1.sequence(ASN1.object("1.2.3.4"))
        let response = try TestPKI.forgeResponse(fields([Single()]), by: issuer, algorithm: foreign)
        #expect(try answer(response) == "stapleInvalid, the stapled response is signed with SHA-1 or MD5")
    }

    @Test func signatureIsTheIssuers() throws {
        let other = try TestPKI.forgeRoot(.authority("Issuer"))
        let forged = try TestPKI.forgeResponse(fields([Single()]), by: other)
        #expect(try answer(forged) == "stapleInvalid, the signature of the stapled response is invalid")
        let response = try TestPKI.forgeResponse(fields([Single()], responder: ASN1.name("Other")), by: issuer)
        let text = "the stapled response does not contain the certificate of its responder"
        #expect(try answer(response) == "stapleInvalid, " + text)
    }

    // MARK: Responders (RFC 6960, 4.2.2.2)

    private static func responder(_ change: (inout CertificateTemplate) -> Void = { _ in }) -> CertificateTemplate {
        var template = CertificateTemplate.server()
        template.subject = ASN1.name("Responder")
        template.purposes("1.3.6.1.5.5.7.3.9")
        change(&template)
        return template
    }

    private func answer(
        responder template: CertificateTemplate, by authority: ForgedCertificate? = nil, allowsSHA1: Bool = false,
        isIncluded: Bool = true
    ) throws -> String {
        let responder = try pki.forge(template, by: authority ?? issuer)
        let response = try TestPKI.forgeResponse(
            fields([Single()], responder: template.subject), by: responder,
            certificates: isIncluded ? [responder] : [])
        return try answer(response, allowsSHA1: allowsSHA1)
    }

    @Test func responderOfTheIssuerIsAuthorized() throws {
        #expect(try answer(responder: Self.responder()).hasPrefix("good"))
        #expect(try answer(responder: Self.responder { $0.remove("2.5.29.15") }).hasPrefix("good"))
        let both = Self.responder { $0.purposes("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.9") }
        #expect(try answer(responder: both).hasPrefix("good"))
    }

    @Test(
        arguments: [
            (responder { $0.remove("2.5.29.37") }, "the responder's certificate is not for OCSP"),
            (responder { $0.purposes("1.3.6.1.5.5.7.3.1") }, "the responder's certificate is not for OCSP"),
            (responder { $0.purposes("2.5.29.37.0") }, "the responder's certificate is not for OCSP"),
            (responder { $0.keyUsage([0x20], unused: 5) }, "the responder's key is not for signatures"),
            (responder { $0.digest = "SHA1" }, "the responder's certificate is signed with SHA-1 or MD5"),
            (responder { $0.keyKind = .p192 }, "the responder's key is too weak"),
            (
                responder { $0.notAfter = CertificateTemplate.time(daysFromNow: -0.5) },
                "the responder's certificate is expired or not yet valid"
            ),
            (
                responder { $0.notBefore = CertificateTemplate.time(daysFromNow: 0.5) },
                "the responder's certificate is expired or not yet valid"
            ),
            (
                responder { $0.extensions += (0..<61).map { .init("1.2.3.\($0)", ASN1.null) } },
                "the responder's certificate cannot be read"
            ),
        ] as [(CertificateTemplate, String)])
    func otherResponderIsNotAuthorized(template: CertificateTemplate, text: String) throws {
        #expect(try answer(responder: template).hasPrefix("stapleInvalid, " + text))
    }

    @Test func responderIsIssuedByTheIssuerItself() throws {
        let text = "stapleInvalid, the responder is not authorized by the issuer (RFC 6960, 4.2.2.2)"
        let (renamed, stranger) = (
            try TestPKI.forgeRoot(.authority("Other"), withKeyOf: issuer), try TestPKI.forgeRoot(.authority("Issuer"))
        )
        #expect(try answer(responder: Self.responder(), by: renamed) == text)
        var unmarked = Self.responder()
        unmarked.set("2.5.29.35", [])
        #expect(try answer(responder: unmarked, by: stranger) == text)
    }

    @Test func responderSignedOverSHA1IsAllowedByName() throws {
        let old = Self.responder { $0.digest = "SHA1" }
        #expect(try answer(responder: old, allowsSHA1: true).hasPrefix("good"))
    }

    @Test func responderPresentsItsCertificate() throws {
        let text = "the stapled response does not contain the certificate of its responder"
        #expect(try answer(responder: Self.responder(), isIncluded: false) == "stapleInvalid, " + text)
    }

    @Test func responderWhoseCertificateIsNotDERIsRefused() throws {
        let unreadable = Self.responder {
            let list =
                $0.extensions.map(\.der) + [ASN1.sequence(ASN1.object("1.2.3"), [1, 1, 0], ASN1.octetString([]))]
            $0.uniqueIdentifiers = ASN1.value(0xA3, ASN1.sequence(of: list))
            $0.extensions = [.init("2.5.29.14", []), .init("2.5.29.35", [])]
        }
        #expect(try answer(responder: unreadable) == "stapleInvalid, the responder's certificate cannot be read")
    }
}
