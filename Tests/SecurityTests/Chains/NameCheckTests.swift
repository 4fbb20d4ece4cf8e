import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// The names of a chain against the constraints of the authorities above them (RFC 5280, 6.1.3 (b) and (c)), and the
/// work for that.
@Suite("Constraints over a chain", .timeLimit(.minutes(1)))
struct NameCheckTests {
    private let pki: TestPKI

    init() throws { pki = try TestPKI() }

    private func check(
        _ chain: [ForgedCertificate], host: String = "a.example", validatesHost: Bool = true, work: inout Int
    ) throws -> TrustRefusal? {
        let handles = try chain.map { try $0.certificate.handle }
        let verifier = ChainVerifier(anchors: try pki.anchors, validatesHost: validatesHost)
        do throws(TrustRefusal) {
            try verifier.checkNames(
                handles, ServerTrust(host: host, port: 443, presentedChain: chain.map(\.der)), &work)
            return nil
        } catch {
            return error
        }
    }

    private func reason(_ chain: [ForgedCertificate], host: String = "a.example") throws -> TrustRefusal.Reason? {
        var work = 1000
        return try check(chain, host: host, work: &work)?.reason
    }

    /// A leaf, an authority and a root.
    private func chain(
        root: (inout CertificateTemplate) -> Void = { _ in }, authority: (inout CertificateTemplate) -> Void = { _ in },
        leaf: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> [ForgedCertificate] {
        var templates = [
            CertificateTemplate.authority("Root"), .authority("Authority"), .server(hosts: ["a.example", "b.example"]),
        ]
        root(&templates[0])
        authority(&templates[1])
        leaf(&templates[2])
        let top = try TestPKI.forgeRoot(templates[0])
        let issuer = try pki.forge(templates[1], by: top)
        return [try pki.forge(templates[2], by: issuer), issuer, top]
    }

    // MARK: Work

    private func work(_ chain: [ForgedCertificate], validatesHost: Bool = true) throws -> Int {
        var work = 1000
        #expect(try check(chain, validatesHost: validatesHost, work: &work) == nil)
        return 1000 - work
    }

    /// Each name of a form that is constrained is compared with each subtree.
    @Test func workIsNamesTimesSubtrees() throws {
        let (one, two) = ([ASN1.host("example")], [ASN1.host("example"), ASN1.host("b.example")])
        #expect(try work(chain()) == 0)
        // Two names and the requested host.
        #expect(try work(chain(authority: { $0.constrain(permitted: two) })) == 6)
        #expect(try work(chain(authority: { $0.constrain(permitted: two) }), validatesHost: false) == 4)
        #expect(try work(chain(root: { $0.constrain(permitted: one, excluded: [ASN1.host("c")]) })) == 6)
        #expect(
            try work(chain(root: { $0.constrain(permitted: one) }, authority: { $0.constrain(permitted: two) })) == 9)
        // Subjects: the host and the leaf's, the authority's.
        let directory = [Part.directory(Part.organization("Other"))]
        #expect(try work(chain(authority: { $0.constrain(excluded: directory) })) == 2)
        #expect(try work(chain(root: { $0.constrain(excluded: directory) })) == 3)
        let named = try chain(
            root: { $0.constrain(permitted: one) },
            authority: { $0.set("2.5.29.17", ASN1.sequence(ASN1.host("example"))) })
        #expect(try work(named) == 4)
    }

    @Test(arguments: [(6, nil), (5, .limitExceeded), (0, .limitExceeded)] as [(Int, TrustRefusal.Reason?)])
    func workIsLimited(limit: Int, reason: TrustRefusal.Reason?) throws {
        var work = limit
        let chain = try chain(authority: { $0.constrain(permitted: [ASN1.host("example"), ASN1.host("x")]) })
        #expect(try check(chain, work: &work)?.reason == reason)
        #expect(work == limit - 6)
    }

    // MARK: Places

    @Test func requestedHostIsANameOfTheLeafOnly() throws {
        let wild: (inout CertificateTemplate) -> Void = {
            $0.set("2.5.29.17", ASN1.sequence(ASN1.host("*.example")))
        }
        let excluding: (inout CertificateTemplate) -> Void = { $0.constrain(excluded: [ASN1.host("z.a.example")]) }
        let chain = try chain(authority: excluding, leaf: wild)
        #expect(try reason(chain, host: "a.example") == nil)
        #expect(try reason(chain, host: "z.a.example") == .nameNotPermitted)
        // The leaf has no names, as for a chain whose host is not checked.
        let bare = try self.chain(
            authority: { $0.constrain(permitted: [ASN1.host("b.example")]) }, leaf: { $0.set("2.5.29.17", []) })
        #expect(try reason(bare) == .nameNotPermitted)
        var work = 1000
        #expect(try check(bare, validatesHost: false, work: &work) == nil)
    }

    @Test func authoritiesAreConstrainedByTheOnesAbove() throws {
        let other: (inout CertificateTemplate) -> Void = {
            $0.set("2.5.29.17", ASN1.sequence(ASN1.host("other.test")))
        }
        let permitting: (inout CertificateTemplate) -> Void = { $0.constrain(permitted: [ASN1.host("example")]) }
        #expect(try reason(chain(root: permitting, authority: other)) == .nameNotPermitted)
        // Its own constraints are for the certificates below it.
        let own = try chain(authority: {
            other(&$0)
            permitting(&$0)
        })
        #expect(try reason(own) == nil)
    }

    /// A self-issued certificate is not constrained unless it is the last one (RFC 5280, 6.1.3 (b)).
    @Test func selfIssuedAuthorityIsNotConstrained() throws {
        var template = CertificateTemplate.authority("Root")
        template.constrain(permitted: [ASN1.host("example")])
        let root = try TestPKI.forgeRoot(template)
        var other = CertificateTemplate.authority("Root")
        other.set("2.5.29.17", ASN1.sequence(ASN1.host("other.test")))
        let again = try pki.forge(other, by: root)
        let leaf = try pki.forge(.server(hosts: ["a.example"]), by: again)
        #expect(try reason([leaf, again, root]) == nil)
        #expect(try reason([again, root]) == .nameNotPermitted)
        var named = CertificateTemplate.authority("Another")
        named.set("2.5.29.17", ASN1.sequence(ASN1.host("other.test")))
        let authority = try pki.forge(named, by: root)
        let below = try pki.forge(.server(hosts: ["a.example"]), by: authority)
        #expect(try reason([below, authority, root]) == .nameNotPermitted)
    }

    /// The rules about extensions apply to authorities, and not to an anchor.
    @Test func malformedExclusionOfAnAnchorIsRefused() throws {
        let malformed: (inout CertificateTemplate) -> Void = { $0.constrain(excluded: [ASN1.host(".other.test")]) }
        #expect(try reason(chain(authority: malformed)) == nil)
        #expect(try reason(chain(root: malformed)) == .nameNotPermitted)
        let permission: (inout CertificateTemplate) -> Void = {
            $0.constrain(permitted: [ASN1.host(".other.test"), ASN1.host("example")])
        }
        #expect(try reason(chain(root: permission)) == nil)
    }

    // MARK: What cannot be read

    private static let constraints = ASN1.sequence(ASN1.value(0xA1, ASN1.sequence(ASN1.host("other.test"))))

    /// A criticality of FALSE, which OpenSSL reads.
    private static func unreadable(_ identifier: String, _ value: [UInt8]) -> (inout CertificateTemplate) -> Void {
        {
            let list =
                $0.extensions.map(\.der) + [
                    ASN1.sequence(ASN1.object(identifier), [1, 1, 0], ASN1.octetString(value))
                ]
            $0.uniqueIdentifiers = ASN1.value(0xA3, ASN1.sequence(of: list))
            $0.extensions = [.init("2.5.29.14", []), .init("2.5.29.35", [])]
        }
    }

    @Test func constraintsThatCannotBeReadAreRefused() throws {
        let hidden = try chain(root: Self.unreadable("2.5.29.30", Self.constraints))
        #expect(try hidden[2].certificate.handle.facts == nil)
        #expect(try reason(hidden) == .nameNotPermitted)
        #expect(try reason(chain(root: Self.unreadable("1.2.3", ASN1.null))) == nil)
        #expect(try reason(chain(authority: { $0.set("2.5.29.30", ASN1.null) })) == .nameNotPermitted)
        let twice = try chain(authority: {
            $0.extensions += [.init("2.5.29.30", Self.constraints), .init("2.5.29.30", Self.constraints)]
        })
        #expect(try reason(twice) == .nameNotPermitted)
        let once = try chain(authority: { $0.extensions.append(.init("2.5.29.30", Self.constraints)) })
        #expect(try reason(once) == nil)
    }

    @Test func namesThatCannotBeReadAreRefusedIfNamesAreConstrained() throws {
        let constrain: (inout CertificateTemplate) -> Void = { $0.set("2.5.29.30", Self.constraints) }
        let names = ASN1.sequence(ASN1.host("a.example"))
        for leaf in [
            Self.unreadable("1.2.3", ASN1.null), { $0.set("2.5.29.17", ASN1.null) },
            { $0.extensions.append(.init("2.5.29.17", names)) },
        ] as [(inout CertificateTemplate) -> Void] {
            #expect(try reason(chain(leaf: leaf)) == nil)
            #expect(try reason(chain(authority: constrain, leaf: leaf)) == .nameNotPermitted)
        }
        let none = try chain(authority: constrain, leaf: { $0.set("2.5.29.17", []) })
        #expect(try reason(none) == nil)
    }

    // MARK: The names of a certificate

    private static func facts(_ change: (inout UnsignedCertificate) -> Void) throws -> CertificateFacts {
        var certificate = UnsignedCertificate()
        change(&certificate)
        return try certificate.facts
    }

    @Test func namesOfTheirFormsAreFound() throws {
        let mail = ASN1.sequence(ASN1.object("1.2.840.113549.1.9.1"), ASN1.value(0x16, Array("a@b".utf8)))
        let facts = try Self.facts {
            $0.subject = ASN1.sequence(ASN1.value(0x31, mail))
            $0.extend([.init("2.5.29.17", ASN1.sequence(ASN1.host("a"), Part.mail("c@d"), ASN1.host("b")))])
        }
        func forms(_ forms: ConstrainedName.Form...) -> [ConstrainedName.Form]? {
            facts.constrainedNames(Set(forms))?.map(\.form)
        }
        #expect(forms() == [])
        #expect(forms(.host) == [.host, .host])
        #expect(forms(.uri) == [])
        #expect(forms(.mail) == [.mail, .mail])
        #expect(forms(.directory) == [.directory])
        #expect(forms(.host, .mail, .directory) == [.host, .mail, .host, .directory, .mail])
    }

    /// An empty subject is not a name; one that cannot be read matters if names of directories are constrained.
    @Test func subjectIsANameUnlessItIsEmpty() throws {
        let empty = try Self.facts { $0.subject = ASN1.sequence() }
        #expect(empty.constrainedNames([.directory, .mail])?.count == 0)
        let attribute = ASN1.sequence(ASN1.object("2.5.4.10"), ASN1.value(0x0C, [0xE9]))
        let unreadable = try Self.facts { $0.subject = ASN1.sequence(ASN1.value(0x31, attribute)) }
        #expect(unreadable.constrainedNames([.host])?.count == 0)
        #expect(unreadable.constrainedNames([.directory]) == nil)
        #expect(unreadable.constrainedNames([.mail]) == nil)
        let twice = try Self.facts {
            let names = ASN1.sequence(ASN1.host("a"))
            $0.extend([.init("2.5.29.17", names), .init("2.5.29.17", names)])
        }
        #expect(twice.constrainedNames([.host]) == nil)
        #expect(try Self.facts { $0.extend([.init("2.5.29.17", ASN1.null)]) }.constrainedNames([.host]) == nil)
    }
}
