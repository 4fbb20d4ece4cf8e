import LinnetSecurity
import LinnetTesting

extension ChainCases {
    private static let mapped: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1]
    private static func octets(_ octet: UInt8, _ count: Int) -> [UInt8] { Array(repeating: octet, count: count) }
    /// `::ffff:192.0.2.0/120` and `::ffff:0:0/96`, each with its mask.
    private static let mappedDocumentation: [UInt8] =
        octets(0, 10) + octets(0xFF, 2) + [192, 0, 2, 0] + octets(0xFF, 15) + octets(0, 1)
    private static let mappedRange: [UInt8] =
        octets(0, 10) + octets(0xFF, 2) + octets(0, 4) + octets(0xFF, 12) + octets(0, 4)
    private static let documentation: [UInt8] = [192, 0, 2, 0, 255, 255, 255, 0]

    /// Permitted subtrees.
    private static func permitting(
        _ name: String, _ bases: [[UInt8]], _ verdicts: ChainCase.Verdicts,
        change: @escaping @Sendable (inout ChainDraft) -> Void = { _ in }
    ) -> ChainCase {
        ChainCase(name, "4.2.1.10", verdicts) {
            $0.authority.constrain(permitted: bases)
            change(&$0)
        }
    }

    /// Excluded subtrees.
    private static func excluding(
        _ name: String, _ bases: [[UInt8]], _ verdicts: ChainCase.Verdicts,
        change: @escaping @Sendable (inout ChainDraft) -> Void = { _ in }
    ) -> ChainCase {
        ChainCase(name, "4.2.1.10", verdicts) {
            $0.authority.constrain(excluded: bases)
            change(&$0)
        }
    }

    /// Name constraints.
    static let constraints: [ChainCase] = hosts + wildcards + addresses + directories + otherForms + places

    private static let hosts = [
        permitting("permitted: the host", [ASN1.host("www.example.com")], .accepted),
        permitting("permitted: the domain above", [ASN1.host("example.com")], .accepted),
        permitting("permitted: one of two", [ASN1.host("other.example"), ASN1.host("example.com")], .accepted),
        permitting("permitted: every host", [ASN1.host("")], .accepted),
        permitting("permitted: another", [ASN1.host("example.org")], .refused(.nameNotPermitted)),
        permitting("permitted: an end that is no label", [ASN1.host("ample.com")], .refused(.nameNotPermitted)),
        permitting("permitted: below the host", [ASN1.host("a.www.example.com")], .refused(.nameNotPermitted)),
        permitting(
            "permitted: the host, not the other name", [ASN1.host("www.example.com")], .refused(.nameNotPermitted)
        ) {
            $0.leaf.alsoName(ASN1.host("mail.example.com"))
        },
        excluding("excluded: the host", [ASN1.host("www.example.com")], .refused(.nameNotPermitted)),
        excluding("excluded: the domain above", [ASN1.host("example.com")], .refused(.nameNotPermitted)),
        excluding("excluded: in other letters", [ASN1.host("EXAMPLE.Com")], .refused(.nameNotPermitted)),
        excluding("excluded: every host", [ASN1.host("")], .refused(.nameNotPermitted)),
        excluding("excluded: a neighbour", [ASN1.host("mail.example.com")], .accepted),
        excluding("excluded: an end that is no label", [ASN1.host("ample.com")], .accepted),
        excluding("excluded: the other name", [ASN1.host("mail.example.com")], .refused(.nameNotPermitted)) {
            $0.leaf.alsoName(ASN1.host("mail.example.com"))
        },
        ChainCase("permitted, and excluded within", "4.2.1.10", .refused(.nameNotPermitted)) {
            $0.authority.constrain(permitted: [ASN1.host("example.com")], excluded: [ASN1.host("www.example.com")])
        },
        permitting(
            "permitted: with a dot in front", [ASN1.host(".example.com")], .byRule(.malformedExtension)),
        excluding("excluded: with a dot in front", [ASN1.host(".example.com")], .refused(.nameNotPermitted)),
        excluding(
            "excluded: with a dot in front, the domain itself", [ASN1.host(".example.com")], .refused(.nameNotPermitted)
        ) {
            ($0.host, $0.leaf) = ("example.com", .server(hosts: ["example.com"]))
        },
        excluding("excluded: with a wildcard", [ASN1.host("*.example.com")], .refused(.nameNotPermitted)),
        permitting("permitted: with a wildcard", [ASN1.host("*.example.com")], .refused(.nameNotPermitted)),
        permitting(
            "permitted: the address, not the common name", [ASN1.host("example.org")], .byWebRule(.commonNameNotInNames)
        ) {
            $0.host = "192.0.2.1"
            $0.leaf.set("2.5.29.17", ASN1.sequence(ASN1.address([192, 0, 2, 1])))
        },
    ]

    private static let wildcards = [
        // The class of CVE-2025-61727.
        excluding(
            "excluded: one that a wildcard stands for", [ASN1.host("bar.example.com")], .refused(.nameNotPermitted)
        ) {
            ($0.host, $0.leaf) = ("bar.example.com", .server(hosts: ["*.example.com"]))
        },
        excluding(
            "excluded: one that a wildcard stands for, another host", [ASN1.host("bar.example.com")],
            .refused(.nameNotPermitted)
        ) {
            $0.leaf.name(["*.example.com"])
        },
        excluding(
            "excluded: one that the wildcard beside the host stands for", [ASN1.host("bar.example.org")],
            .refused(.nameNotPermitted)
        ) {
            $0.leaf.alsoName(ASN1.host("*.example.org"))
        },
        excluding("excluded: above a wildcard", [ASN1.host("example.com")], .refused(.nameNotPermitted)) {
            $0.leaf.name(["*.example.com"])
        },
        excluding("excluded: two labels below a wildcard", [ASN1.host("a.bar.example.com")], .accepted) {
            $0.leaf.name(["*.example.com"])
        },
        permitting("permitted: above a wildcard", [ASN1.host("example.com")], .accepted) {
            $0.leaf.name(["*.example.com"])
        },
        permitting(
            "permitted: one that a wildcard stands for", [ASN1.host("www.example.com")], .refused(.nameNotPermitted)
        ) {
            $0.leaf.name(["*.example.com"])
        },
        ChainCase(
            "excluded by the root: one that a wildcard stands for", "4.2.1.10 and 6.1.1 (d)",
            .refused(.nameNotPermitted)
        ) {
            $0.root.constrain(excluded: [ASN1.host("bar.example.com")])
            ($0.host, $0.leaf) = ("bar.example.com", .server(hosts: ["*.example.com"]))
        },
    ]

    private static func at(_ octets: [UInt8], _ host: String) -> @Sendable (inout ChainDraft) -> Void {
        {
            $0.host = host
            $0.leaf.name(["localhost"], ASN1.address(octets))
        }
    }

    private static let addresses = [
        permitting(
            "permitted: the address's network", [ASN1.address(documentation)], .accepted,
            change: at([192, 0, 2, 1], "192.0.2.1")),
        permitting(
            "permitted: another network", [ASN1.address(documentation)], .refused(.nameNotPermitted),
            change: at([192, 0, 3, 1], "192.0.3.1")),
        excluding(
            "excluded: the address's network", [ASN1.address(documentation)], .refused(.nameNotPermitted),
            change: at([192, 0, 2, 1], "192.0.2.1")),
        excluding(
            "excluded: another network", [ASN1.address(documentation)], .accepted,
            change: at([192, 0, 3, 1], "192.0.3.1")),
        excluding(
            "excluded: the address that is mapped into version 6", [ASN1.address(documentation)],
            .refused(.nameNotPermitted)
        ) {
            $0.leaf.alsoName(ASN1.address(mapped))
        },
        permitting("permitted: version 4, not version 6", [ASN1.address(documentation)], .refused(.nameNotPermitted)) {
            $0.leaf.alsoName(ASN1.address([0x20, 1] + Array(repeating: 0, count: 14)))
        },
        excluding(
            "excluded: all of version 6", [ASN1.address(Array(repeating: 0, count: 32))], .refused(.nameNotPermitted)
        ) {
            $0.leaf.alsoName(ASN1.address([0x20, 1] + Array(repeating: 0, count: 14)))
        },
        excluding(
            "excluded: all of version 6, not version 4", [ASN1.address(Array(repeating: 0, count: 32))], .accepted,
            change: at([192, 0, 2, 1], "192.0.2.1")),
        excluding(
            "excluded: the mapped form of the address's network", [ASN1.address(mappedDocumentation)],
            .refused(.nameNotPermitted), change: at([192, 0, 2, 1], "192.0.2.1")),
        excluding(
            "excluded: the mapped form of another network", [ASN1.address(mappedDocumentation)], .accepted,
            change: at([192, 0, 3, 1], "192.0.3.1")),
        excluding(
            "excluded: all mapped addresses", [ASN1.address(mappedRange)], .refused(.nameNotPermitted),
            change: at([192, 0, 2, 1], "192.0.2.1")),
        excluding(
            "excluded: a mask with holes", [ASN1.address([10, 0, 0, 0, 255, 0, 255, 0])], .byRule(.malformedExtension)),
        excluding("excluded: no network", [ASN1.address([10, 0, 0, 0, 255])], .refused(.nameNotPermitted)) {
            $0.leaf.alsoName(ASN1.address([192, 0, 2, 1]))
        },
        permitting("permitted: addresses, of hosts nothing is said", [ASN1.address(documentation)], .accepted),
    ]

    private static func subject(_ name: [UInt8]) -> @Sendable (inout ChainDraft) -> Void { { $0.leaf.subject = name } }

    private static let directories = [
        permitting(
            "permitted: the subject's organization", [Part.directory(Part.organization("Example"))], .accepted,
            change: subject(Part.organization("Example", "www.example.com"))),
        permitting(
            "permitted: another organization", [Part.directory(Part.organization("Other"))],
            .refused(.nameNotPermitted),
            change: subject(Part.organization("Example", "www.example.com"))),
        excluding(
            "excluded: the subject's organization", [Part.directory(Part.organization("Example"))],
            .refused(.nameNotPermitted),
            change: subject(Part.organization("Example", "www.example.com"))),
        excluding(
            "excluded: the same in other letters, blanks and strings",
            [Part.directory(Part.organization(" EXAMPLE  inc", tag: 0x13))], .refused(.nameNotPermitted),
            change: subject(Part.organization("Example Inc", "www.example.com"))),
        excluding(
            "excluded: letters beyond ASCII", [Part.directory(Part.organization("BÜCHER"))],
            .refused(.nameNotPermitted),
            change: subject(Part.organization("bücher", "www.example.com"))),
        excluding(
            "excluded: below the subject", [Part.directory(Part.organization("Example", "other"))], .accepted,
            change: subject(Part.organization("Example", "www.example.com"))),
        excluding(
            "excluded: an organization, beside an empty subject", [Part.directory(Part.organization("Example"))],
            .accepted
        ) {
            $0.leaf.subject = ASN1.name(nil)
            $0.leaf.set("2.5.29.17", critical: true)
        },
        excluding(
            "excluded: another name in the directory", [Part.directory(Part.organization("Example"))],
            .refused(.nameNotPermitted)
        ) {
            $0.leaf.alsoName(Part.directory(Part.organization("Example", "x")))
        },
        permitting(
            "permitted: the subject, where no host is asked for", [Part.directory(ASN1.name("foo"))],
            .byWebRule(.missingSubjectAlternativeName)
        ) {
            $0.host = nil
            $0.leaf.subject = ASN1.name("foo")
            $0.leaf.set("2.5.29.17", [])
        },
    ]

    private static let otherForms = [
        excluding("excluded: a mail host", [Part.mail("example.com")], .refused(.nameNotPermitted)) {
            $0.leaf.alsoName(Part.mail("a@example.com"))
        },
        permitting("permitted: another mailbox", [Part.mail("b@example.com")], .refused(.nameNotPermitted)) {
            $0.leaf.alsoName(Part.mail("a@example.com"))
        },
        permitting("permitted: the mailbox", [Part.mail("a@example.com")], .accepted) {
            $0.leaf.alsoName(Part.mail("a@Example.com"))
        },
        permitting("permitted: mail hosts below", [Part.mail(".example.com")], .refused(.nameNotPermitted)) {
            $0.leaf.alsoName(Part.mail("a@example.com"))
        },
        permitting(
            "permitted: another mail host than the subject's", [Part.mail("example.org")], .refused(.nameNotPermitted)
        ) {
            let mail = ASN1.sequence(ASN1.object("1.2.840.113549.1.9.1"), ASN1.value(0x16, Array("a@example.com".utf8)))
            $0.leaf.subject = ASN1.sequence(ASN1.value(0x31, mail))
        },
        excluding("excluded: a URI's host", [Part.uri("api.example.com")], .refused(.nameNotPermitted)) {
            $0.leaf.alsoName(Part.uri("https://u@api.example.com:8443/x?y"))
        },
        excluding("excluded: another URI's host", [Part.uri("other.example")], .accepted) {
            $0.leaf.alsoName(Part.uri("https://api.example.com/"))
        },
        permitting("permitted: another form that is there", [Part.other()], .refused(.nameNotPermitted)) {
            $0.leaf.alsoName(Part.other())
        },
        permitting("permitted: another form that is not there", [Part.other()], .accepted),
        ChainCase("a minimum", "4.2.1.10", .refused(.nameNotPermitted)) {
            let subtree = ASN1.sequence(ASN1.host("example.com"), ASN1.value(0x80, [1]))
            $0.authority.set("2.5.29.30", critical: true, ASN1.sequence(ASN1.value(0xA0, subtree)))
        },
        ChainCase("constraints of nothing", "4.2.1.10", .byRule(.malformedExtension)) {
            $0.authority.set("2.5.29.30", critical: true, ASN1.sequence())
        },
    ]

    private static let places = [
        ChainCase("constraints that are not critical", "4.2.1.10", .refused(.nameNotPermitted)) {
            $0.authority.constrain(excluded: [ASN1.host("www.example.com")], critical: false)
        },
        ChainCase("constraints in a server's certificate", "4.2.1.10", .byRule(.nameConstraintsInLeaf)) {
            $0.leaf.constrain(excluded: [ASN1.host("other.example")])
        },
        ChainCase("the root's permitted names", "6.1.1 (d)", .refused(.nameNotPermitted)) {
            $0.root.constrain(permitted: [ASN1.host("example.org")])
        },
        ChainCase("an authority's own name", "6.1.3 (b)", .refused(.nameNotPermitted)) {
            $0.root.constrain(permitted: [ASN1.host("example.com")])
            $0.authority.set("2.5.29.17", ASN1.sequence(ASN1.host("example.org")))
        },
        ChainCase("an authority that narrows", "6.1.4 (g)", .accepted) {
            $0.root.constrain(permitted: [ASN1.host("com")])
            $0.authority.constrain(permitted: [ASN1.host("example.com")])
        },
        ChainCase("an authority that widens", "6.1.4 (g)", .refused(.nameNotPermitted)) {
            $0.root.constrain(permitted: [ASN1.host("example.org")])
            $0.authority.constrain(permitted: [ASN1.host("com")])
        },
        ChainCase("an authority of the issuer's own name", "6.1.3 (b)", .accepted) {
            $0.root.subject = ASN1.name("Root")
            $0.root.constrain(permitted: [Part.directory(Part.organization("Example"))])
            $0.authority.subject = ASN1.name("Root")
            $0.leaf.subject = Part.organization("Example", "www.example.com")
        },
    ]
}
