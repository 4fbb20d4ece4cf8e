import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// The fields of a revocation list (RFC 5280, 5.1), in the form that is defined for them, and in others.
@Suite("The form of revocation lists", .timeLimit(.minutes(1)))
struct RevocationListFormTests {
    /// The fields of a list as DER, or as bytes that a valid list does not contain. Its signature is none.
    struct Fields: Sendable {
        var version = ASN1.integer(1)
        var algorithm = UnsignedCertificate.ecdsaSHA256
        var outerAlgorithm = UnsignedCertificate.ecdsaSHA256
        var thisUpdate = ASN1.utcTime("250101000000Z")
        var nextUpdate = ASN1.utcTime("490101000000Z")
        var entries: [UInt8] = []
        /// The extensions of the list without their tag.
        var extensions: [[UInt8]]? = [Fields.number]
        var (signedRest, rest): ([UInt8], [UInt8]) = ([], [])

        static let number = CertificateTemplate.Extension("2.5.29.20", ASN1.integer(1)).der

        var der: [UInt8] {
            let signed = ASN1.sequence(
                version, algorithm, ASN1.name("Authority"), thisUpdate, nextUpdate, entries,
                extensions.map { ASN1.value(0xA0, ASN1.sequence(of: $0)) } ?? [], signedRest)
            return ASN1.sequence(signed, outerAlgorithm, ASN1.bitString([1, 2, 3]), rest)
        }

        var facts: CRLFacts {
            get throws(CRLDefect) { try CRLFacts(der: der) }
        }

        /// The reason why the list cannot be used; nil if there is none.
        var defect: String? {
            do throws(CRLDefect) {
                _ = try facts
                return nil
            } catch {
                return error.text
            }
        }
    }

    private static func fields(_ change: (inout Fields) -> Void) -> Fields {
        var fields = Fields()
        change(&fields)
        return fields
    }

    private static func own(_ identifier: String, critical: Bool = false, _ value: [UInt8]) -> [UInt8] {
        CertificateTemplate.Extension(identifier, critical: critical, value).der
    }

    private static func point(critical: Bool = true, _ parts: [UInt8]...) -> Fields {
        fields { $0.extensions?.append(own("2.5.29.28", critical: critical, ASN1.sequence(of: parts))) }
    }

    private static let serial = ASN1.integer([1, 2, 3])
    private static let date = ASN1.utcTime("250101000000Z")

    @Test func timesAndScopeAreRead() throws {
        let facts = try Fields().facts
        #expect(facts.thisUpdate == Date(timeIntervalSince1970: 1_735_689_600))
        #expect(facts.nextUpdate == Date(timeIntervalSince1970: 2_493_072_000))
        #expect(!facts.scope.isForLeavesOnly && !facts.scope.isForAuthoritiesOnly && facts.scope.uris == [])
        let late = try Self.fields { $0.nextUpdate = ASN1.generalizedTime("20500101000000Z") }.facts
        #expect(late.nextUpdate == Date(timeIntervalSince1970: 2_524_608_000))
    }

    @Test func scopeIsReadFromTheDistributionPoint() throws {
        let leaves = try Self.point(ASN1.value(0x81, [0xFF])).facts.scope
        #expect(leaves.isForLeavesOnly && !leaves.isForAuthoritiesOnly && leaves.uris == [])
        let authorities = try Self.point(ASN1.value(0x82, [0xFF])).facts.scope
        #expect(!authorities.isForLeavesOnly && authorities.isForAuthoritiesOnly && authorities.uris == [])
        let name = ASN1.value(0xA0, ASN1.value(0xA0, Part.uri("http://a") + Part.uri("http://b")))
        let uris = try Self.point(name).facts.scope
        #expect(!uris.isForLeavesOnly && !uris.isForAuthoritiesOnly)
        #expect(uris.uris == [Array("http://a".utf8), Array("http://b".utf8)])
        let both = try Self.point(name, ASN1.value(0x81, [0xFF])).facts.scope
        #expect(both.isForLeavesOnly && both.uris.count == 2)
        let none = try Self.point().facts.scope
        #expect(!none.isForLeavesOnly && !none.isForAuthoritiesOnly && none.uris == [])
    }

    @Test(arguments: [
        fields { $0.extensions?.append(own("2.5.29.35", ASN1.sequence())) },
        fields { $0.extensions?.insert(own("1.2.3", ASN1.null), at: 0) },
        fields { $0.entries = ASN1.sequence(ASN1.sequence(serial, date)) },
        fields { $0.entries = ASN1.sequence(ASN1.sequence(serial, date), ASN1.sequence(serial, date)) },
        fields {
            $0.entries = ASN1.sequence(ASN1.sequence(serial, date, ASN1.sequence(own("2.5.29.24", ASN1.null))))
        },
        fields {
            $0.entries = ASN1.sequence(
                ASN1.sequence(serial, date, ASN1.sequence(own("2.5.29.21", ASN1.value(0x0A, [9])))))
        },
    ])
    func listInItsFormIsRead(fields: Fields) {
        #expect(fields.defect == nil)
    }

    @Test(
        arguments: [
            (fields { $0.version = [] }, "5.1.2.1"), (fields { $0.version = ASN1.integer(0) }, "5.1.2.1"),
            (fields { $0.version = ASN1.integer(2) }, "5.1.2.1"),
            (fields { $0.outerAlgorithm = ASN1.sequence(ASN1.object("1.2.840.10045.4.3.3")) }, "5.1.1.2"),
            (
                fields {
                    $0.algorithm = ASN1.sequence(ASN1.object("1.2.840.10045.4.1"))
                    $0.outerAlgorithm = $0.algorithm
                }, "SHA-1"
            ),
            (fields { $0.nextUpdate = [] }, "5.1.2.5"),
            (fields { $0.extensions = nil }, "5.2.3"), (fields { $0.extensions = [] }, "5.2.3"),
            (fields { $0.extensions = [own("2.5.29.35", ASN1.sequence())] }, "5.2.3"),
            (fields { $0.extensions = [own("2.5.29.20", critical: true, ASN1.integer(1))] }, "5.2.3"),
            (fields { $0.extensions = [own("2.5.29.21", ASN1.integer(1))] }, "5.2.3"),
            (fields { $0.extensions?.append(Fields.number) }, "4.2"),
            // A delta list, a base list's reference and an unknown extension.
            (fields { $0.extensions?.append(own("2.5.29.27", critical: true, ASN1.integer(1))) }, "5.2)"),
            (fields { $0.extensions?.append(own("1.2.3", critical: true, ASN1.null)) }, "5.2)"),
            (point(critical: false, ASN1.value(0x81, [0xFF])), "5.2.5"),
            // Some reasons, several issuers and attribute certificates.
            (point(ASN1.value(0x83, [1, 2])), "not supported"), (point(ASN1.value(0x84, [0xFF])), "not supported"),
            (point(ASN1.value(0x85, [0xFF])), "not supported"),
            (point(ASN1.value(0x82, [0xFF]), ASN1.value(0x81, [0xFF])), "not supported"),
            (point(ASN1.value(0xA0, ASN1.value(0xA0, Part.mail("a@b")))), "no URI"),
            (point(ASN1.value(0xA0, ASN1.value(0xA1, ASN1.null))), "no URI"),
            (point(ASN1.value(0x81, [0xFE])), "BOOLEAN"), (point(ASN1.value(0x82, [0x00])), "BOOLEAN"),
            (
                fields {
                    $0.entries = ASN1.sequence(
                        ASN1.sequence(serial, date, ASN1.sequence(own("2.5.29.24", critical: true, ASN1.null))))
                }, "5.3)"
            ),
            (
                fields {
                    let reason = own("2.5.29.21", ASN1.value(0x0A, [8]))
                    $0.entries = ASN1.sequence(
                        ASN1.sequence(serial, date), ASN1.sequence(serial, date, ASN1.sequence(reason)))
                }, "5.3.1"
            ),
        ] as [(Fields, String)])
    func listThatCannotBeUsedIsRefusedWithTheSection(fields: Fields, section: String) {
        #expect(fields.defect?.contains(section) == true, "\(fields.defect ?? "none")")
    }

    /// One value too many, of another type, or in another encoding.
    @Test(arguments: [
        fields { $0.rest = ASN1.null }, fields { $0.signedRest = ASN1.null },
        fields { $0.thisUpdate = ASN1.utcTime("no time") }, fields { $0.nextUpdate = ASN1.utcTime("no time") },
        fields { $0.nextUpdate = ASN1.generalizedTime("no time") }, fields { $0.entries = ASN1.sequence(ASN1.null) },
        fields { $0.entries = ASN1.sequence(ASN1.sequence(serial)) },
        fields { $0.entries = ASN1.sequence(ASN1.sequence(date, date)) },
        fields { $0.entries = ASN1.sequence(ASN1.sequence(serial, date, ASN1.null)) },
        fields { $0.entries = ASN1.sequence(ASN1.sequence(serial, date, ASN1.sequence(), ASN1.null)) },
        fields {
            $0.entries = ASN1.sequence(ASN1.sequence(serial, date, ASN1.sequence(own("2.5.29.21", ASN1.integer(1)))))
        },
        fields { $0.extensions?.append(ASN1.null) },
        fields { $0.extensions?.append(ASN1.sequence(ASN1.object("1.2.3"), ASN1.octetString([]), ASN1.null)) },
        fields { $0.extensions?.append(ASN1.sequence(ASN1.object("1.2.3"), [1, 1, 0], ASN1.octetString([]))) },
        fields { $0.extensions?.append(ASN1.sequence(ASN1.object("1.2.3"), [1, 1, 0xFE], ASN1.octetString([]))) },
        point(ASN1.value(0x80, ASN1.value(0xA0, Part.uri("http://a")))),
    ])
    func listOfAnotherFormIsRefused(fields: Fields) throws {
        let defect = try #require(fields.defect)
        #expect(!defect.contains("BOOLEAN") && !defect.contains("5.2)"))
    }
}

/// The certificates that a list says something about.
@Suite("The scope of revocation lists", .timeLimit(.minutes(1)))
struct RevocationListScopeTests {
    private let pki: TestPKI
    private let root: ForgedCertificate

    init() throws {
        pki = try TestPKI()
        root = try TestPKI.forgeRoot(.authority("Root"))
    }

    private func list(_ point: [UInt8]?) throws -> CRLHandle {
        let extensions = point.map { [CertificateTemplate.Extension("2.5.29.28", critical: true, ASN1.sequence($0))] }
        return try CRLHandle(der: TestPKI.forgeList([], extensions: extensions ?? [], by: root))
    }

    private func handle(_ template: CertificateTemplate) throws -> X509Handle {
        try pki.forge(template, by: root).certificate.handle
    }

    @Test func scopeIsLeavesAuthoritiesOrBoth() throws {
        var bare = CertificateTemplate.server()
        bare.remove("2.5.29.19")
        let (leaf, authority) = (try handle(.server()), try handle(.authority("Authority")))
        let (all, leaves, authorities) = (
            try list(nil), try list(ASN1.value(0x81, [0xFF])), try list(ASN1.value(0x82, [0xFF]))
        )
        #expect(all.covers(leaf) && all.covers(authority))
        #expect(leaves.covers(leaf) && !leaves.covers(authority))
        #expect(!authorities.covers(leaf) && authorities.covers(authority))
        let unmarked = try handle(bare)
        #expect(all.covers(unmarked) && leaves.covers(unmarked) && !authorities.covers(unmarked))
    }

    /// A certificate names the list's distribution point (RFC 5280, 6.3.3 (b) (2) (i)).
    @Test func scopeIsADistributionPoint() throws {
        func point(_ uris: String...) -> [UInt8] {
            ASN1.value(0xA0, ASN1.value(0xA0, uris.flatMap { Part.uri($0) }))
        }
        let list = try list(point("http://a", "http://b"))
        var (named, other) = (CertificateTemplate.server(), CertificateTemplate.server())
        named.set("2.5.29.31", ASN1.sequence(ASN1.sequence(point("http://x")), ASN1.sequence(point("http://b"))))
        other.set("2.5.29.31", ASN1.sequence(ASN1.sequence(point("http://x"))))
        #expect(try list.covers(handle(named)))
        #expect(try !list.covers(handle(other)))
        #expect(try !list.covers(handle(.server())))
    }

    /// OpenSSL reads a criticality of FALSE, which DER does not encode.
    @Test func unreadableCertificateIsInNoScope() throws {
        var template = CertificateTemplate.server()
        template.extensions = [.init("2.5.29.14", []), .init("2.5.29.35", [])]
        template.uniqueIdentifiers = ASN1.value(
            0xA3, ASN1.sequence(ASN1.sequence(ASN1.object("1.2.3"), [1, 1, 0], ASN1.octetString([]))))
        let unreadable = try handle(template)
        #expect(unreadable.facts == nil)
        #expect(try !list(nil).covers(unreadable))
    }

    @Test func signatureIsCheckedByNameAndKey() throws {
        let list = try list(nil)
        let other = try TestPKI.forgeRoot(.authority("Root"))
        let renamed = try TestPKI.forgeRoot(.authority("Other Root"), withKeyOf: root)
        // Also when the result is known.
        for _ in 0..<2 {
            #expect(try list.isSigned(by: root.certificate.handle))
            #expect(try !list.isSigned(by: other.certificate.handle))
            #expect(try !list.isSigned(by: renamed.certificate.handle))
        }
        #expect(list.issuer == "CN=Root")
    }

    /// The key is one that OpenSSL does not know.
    @Test func authorityWithoutAUsableKeySignsNothing() throws {
        var template = CertificateTemplate.authority("Root")
        template.publicKey = UnsignedCertificate.key("1.2.3.4")
        let unusable = try TestPKI.forgeRoot(template).certificate.handle
        #expect(try !list(nil).isSigned(by: unusable))
    }

    @Test func listsWithTheSameBytesAreEqual() throws {
        let (bytes, others) = (try TestPKI.forgeList([], by: root), try pki.revocationList(revoking: []))
        let (one, two) = (try RevocationList(der: bytes), try RevocationList(der: bytes))
        #expect(one == one && one == two && one.hashValue == two.hashValue)
        #expect(try one != RevocationList(der: others))
        #expect(Set([one, two]).count == 1)
    }
}
