import LinnetTesting
import Testing

@testable import LinnetSecurity

/// Whether a subtree of name constraints has a name (RFC 5280, 4.2.1.10). A subtree or a name that is not understood
/// counts against the name: it is not permitted, and it is excluded.
@Suite("Subtrees of name constraints", .timeLimit(.minutes(1)))
struct NameSubtreeTests {
    /// What a subtree says about a name.
    enum Relation: Sendable {
        /// The subtree has the whole name.
        case inside
        /// The subtree has a part of what the name stands for, or one of them is not understood.
        case partly
        case outside
    }

    private static func check(_ base: GeneralName, _ name: GeneralName, _ relation: Relation) throws {
        let (subtree, name) = (try NameSubtree(base), ConstrainedName(name))
        #expect(subtree.covers(name) == (relation == .inside))
        #expect(subtree.touches(name) == (relation != .outside))
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(
        arguments: [
            ("example.com", "example.com", .inside), ("example.com", "www.example.com", .inside),
            ("example.com", "a.b.example.com", .inside), ("EXAMPLE.com", "www.example.COM", .inside),
            ("example.com", "com", .outside), ("example.com", "notexample.com", .outside),
            ("example.com", "example.org", .outside), ("example.com", "xexample.com", .outside),
            ("www.example.com", "example.com", .outside), ("a", "b", .outside),
            ("example.com.", "example.com", .inside), ("example.com", "example.com.", .inside),
            // Every name is below the empty one.
            ("", "example.com", .inside), ("", "*.example.com", .inside),
            // A wildcard stands for each name with one label more.
            ("example.com", "*.example.com", .inside), ("example.com", "*.www.example.com", .inside),
            ("www.example.com", "*.example.com", .partly), ("a.www.example.com", "*.example.com", .outside),
            ("example.com", "*.com", .partly), ("www.example.org", "*.example.com", .outside),
            ("wwwexample.com", "*.example.com", .outside),
            // A dot in front stands for the names below.
            (".example.com", "www.example.com", .inside), (".example.com", "*.example.com", .inside),
            (".example.com", "example.com", .partly), (".example.com", "example.org", .outside),
            ("*.example.com", "www.example.com", .inside), ("*.example.com", "example.com", .partly),
            // Neither is a name or a pattern of names.
            ("w*.example.com", "example.org", .partly), ("exam ple.com", "example.org", .partly),
            ("example.com", "w*.example.org", .partly), ("example.com", "w*.example.com", .partly),
            ("example.com", "a\0.example.org", .partly), ("example.com", "a\0.example.com", .partly),
            ("example.com", "", .partly), ("example.com", ".", .partly), ("", "*", .partly),
        ] as [(String, String, Relation)])
    func hostIsInASubtree(base: String, name: String, relation: Relation) throws {
        try Self.check(.host(Self.text(base)), .host(Self.text(name)), relation)
    }

    private static let network: [UInt8] = [192, 0, 2, 0, 255, 255, 255, 0]
    private static let zeros = [UInt8](repeating: 0, count: 16)
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    private static let documentation: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + zeros.prefix(12)
    /// The mask of a prefix of whole octets.
    private static func mask(_ count: Int, of size: Int) -> [UInt8] {
        (0..<size).map { $0 < count ? 0xFF : 0 }
    }

    private static let everything: [UInt8] = zeros + zeros
    private static let documentationNetwork: [UInt8] = documentation + mask(4, of: 16)
    /// `::ffff:192.0.2.0/120`, `::ffff:0:0/96`, and the range of twice that size.
    private static let mappedNetwork: [UInt8] = mapped + [192, 0, 2, 0] + mask(15, of: 16)
    private static let everyMapped: [UInt8] = mapped + zeros.prefix(4) + mask(12, of: 16)
    private static let wide: [UInt8] =
        mapped.prefix(11) + [0xFE, 0, 0, 0, 0] + mask(11, of: 16).prefix(11) + [0xFE, 0, 0, 0, 0]
    private static let other: [UInt8] = [0x20, 0x02] + zeros.prefix(14)
    private static let (mappedOne, mappedOther): ([UInt8], [UInt8]) = (
        mapped + [192, 0, 2, 1], mapped + [192, 0, 3, 1]
    )
    private static let (tooLongNetwork, tooLongRange, tooLong): ([UInt8], [UInt8], [UInt8]) = (
        network + [0], everything + [0], zeros + [0]
    )

    @Test(
        arguments: [
            (network, [192, 0, 2, 0], .inside), (network, [192, 0, 2, 255], .inside),
            (network, [192, 0, 3, 0], .outside), (network, [193, 0, 2, 0], .outside),
            ([192, 0, 2, 1, 255, 255, 255, 0], [192, 0, 2, 9], .inside),
            (documentationNetwork, documentation, .inside), (documentationNetwork, other, .outside),
            (everything, documentation, .inside),
            // The address of version 4 in version 6 is the same host (RFC 4291, 2.5.5.2).
            (network, mappedOne, .partly), (network, mappedOther, .outside), (network, documentation, .outside),
            (mappedNetwork, [192, 0, 2, 1], .partly), (mappedNetwork, [192, 0, 3, 1], .outside),
            (mappedNetwork, mappedOne, .inside), (everyMapped, [192, 0, 2, 1], .partly),
            // A range beyond those addresses is about version 6.
            (everything, [192, 0, 2, 1], .outside), (wide, [192, 0, 2, 1], .outside), (wide, mappedOne, .inside),
            // No networks, and no addresses.
            ([192, 0, 2, 0, 255], [10, 0, 0, 1], .partly), (tooLongNetwork, [10, 0, 0, 1], .partly),
            (tooLongRange, [10, 0, 0, 1], .partly), ([], [10, 0, 0, 1], .partly), (network, [192, 0, 2], .partly),
            (network, [192, 0, 2, 1, 0], .partly), (everything, tooLong, .partly), (network, [], .partly),
        ] as [([UInt8], [UInt8], Relation)])
    func addressIsInASubtree(base: [UInt8], address: [UInt8], relation: Relation) throws {
        try Self.check(.address(base), .address(address), relation)
    }

    @Test(
        arguments: [
            ("a@example.com", "a@example.com", .inside), ("a@EXAMPLE.com", "a@example.COM", .inside),
            ("a@example.com", "b@example.com", .outside), ("a@example.com", "a@example.org", .outside),
            ("a@example.com", "b@example.org", .outside), ("\"x@y\"@example.com", "\"x@y\"@example.com", .inside),
            // Case is significant in the local part of a permission, and may not be in that of an exclusion.
            ("a@example.com", "A@example.com", .partly),
            ("example.com", "a@example.com", .inside), ("example.com", "a@Example.com", .inside),
            ("Example.com", "a@example.com", .inside), ("example.com", "a@www.example.com", .outside),
            ("example.com", "a@example.org", .outside), ("", "a@example.org", .inside),
            (".example.com", "a@www.example.com", .inside), (".example.com", "a@example.com", .outside),
            (".Example.com", "a@a.b.example.com", .inside),
            // No mailboxes.
            ("a@example.com", "example.org", .partly), ("example.org", "example.com", .partly),
            (".example.com", "example.org", .partly), ("exam ple.com", "a@example.org", .partly),
            ("a @example.com", "b@example.org", .partly),
        ] as [(String, String, Relation)])
    func mailboxIsInASubtree(base: String, name: String, relation: Relation) throws {
        try Self.check(.mail(Self.text(base)), .mail(Self.text(name)), relation)
    }

    @Test(
        arguments: [
            ("example.com", "https://example.com", .inside), ("Example.com", "https://EXAMPLE.com/", .inside),
            ("example.com", "https://u:p@example.com:443/a@b", .inside), ("example.com", "s://example.com?x", .inside),
            ("example.com", "s://example.com#x", .inside), ("example.com", "s://a@b@example.com", .inside),
            ("example.com", "https://www.example.com/", .outside), ("example.com", "https://example.org/", .outside),
            (".example.com", "https://www.example.com/", .inside), (".example.com", "https://example.com/", .outside),
            ("", "https://example.com/", .inside),
            // No host, or an address.
            ("example.com", "urn:example.com", .partly), ("example.com", "example.com", .partly),
            ("example.com", "https:/example.com", .partly), ("example.com", "https://", .partly),
            ("example.com", "https://example.com@/", .partly), ("example.com", "https://192.0.2.1/", .partly),
            ("example.com", "https://[::1]/", .partly), ("example.com", "https://[example.com]/", .partly),
            (".example.com", "urn:x", .partly), ("exam ple.com", "https://example.org/", .partly),
        ] as [(String, String, Relation)])
    func hostOfAURIIsInASubtree(base: String, name: String, relation: Relation) throws {
        try Self.check(.uri(Self.text(base)), .uri(Self.text(name)), relation)
    }

    @Test(
        arguments: [
            (Part.organization("Example"), Part.organization("Example"), .inside),
            (Part.organization("Example"), Part.organization("Example", "a"), .inside),
            (ASN1.name(nil), Part.organization("Example"), .inside),
            (Part.organization("Example", "a"), Part.organization("Example"), .outside),
            (Part.organization("Other"), Part.organization("Example", "a"), .outside),
            (Part.organization("Example", "a"), Part.organization("Other", "a"), .outside),
            // A name that cannot be read.
            (Part.organization("Example"), ASN1.sequence(ASN1.null), .partly),
        ] as [([UInt8], [UInt8], Relation)])
    func directoryNameIsInASubtree(base: [UInt8], name: [UInt8], relation: Relation) throws {
        try Self.check(.directory(base), .directory(name), relation)
    }

    @Test func unreadableDirectoryNameIsNoBase() {
        #expect(throws: DERError.self) { try NameSubtree(.directory(ASN1.sequence(ASN1.null))) }
    }

    /// Forms are compared by their number, and nothing is known about the names of the other forms.
    @Test func subtreeIsForNamesOfItsForm() throws {
        let names: [GeneralName] = [
            .host([0x61]), .address([192, 0, 2, 1]), .mail(Self.text("a@b")), .uri(Self.text("s://a")),
            .directory(Part.organization("Example")), .other(0xA0), .other(0xA3), .other(0x88),
        ]
        let bases: [GeneralName] = [
            .host([0x61]), .address(Self.network), .mail([0x62]), .uri([0x61]),
            .directory(Part.organization("Example")), .other(0xA0), .other(0xA3), .other(0x88),
        ]
        for (index, base) in bases.enumerated() {
            for (place, name) in names.enumerated() {
                let isKnown = index < 5
                let relation: Relation = index != place ? .outside : isKnown ? .inside : .partly
                try Self.check(base, name, relation)
            }
        }
        try Self.check(.other(0xA0), .other(0x80), .partly)
        #expect(try NameSubtree(.other(0xA0)).form != NameSubtree(.other(0xA3)).form)
    }
}

/// Lists of subtrees, and the names that they have.
@Suite("Name constraints", .timeLimit(.minutes(1)))
struct NameConstraintTests {
    private static func list(_ tag: UInt8, _ names: [UInt8]...) -> [UInt8] {
        ASN1.value(tag, names.flatMap { ASN1.sequence($0) })
    }

    private static func constraints(_ lists: [UInt8]...) throws -> NameConstraints {
        try NameConstraints(DER(bytes: ASN1.sequence(of: lists)))
    }

    private static let (one, two) = (ASN1.host("one.example"), ASN1.host("two.example"))
    private static let malformed = ASN1.host(".example")

    @Test func listsAreReadCompletely() throws {
        let both = try Self.constraints(
            Self.list(0xA0, Self.one, Self.two), Self.list(0xA1, Self.one, Part.mail("a@b"), Part.uri("c")))
        #expect(both.permitted.count == 2)
        #expect(both.excluded.count == 3)
        #expect(both.subtrees == 5)
        #expect(both.forms == [.host, .mail, .uri])
        #expect(both.isProper && !both.hasMalformedExclusion)
        let excluded = try Self.constraints(Self.list(0xA1, Self.one))
        #expect(excluded.permitted.isEmpty && excluded.excluded.count == 1)
        #expect(excluded.isProper && !excluded.hasMalformedExclusion)
        let permitted = try Self.constraints(Self.list(0xA0, Self.one))
        #expect(permitted.permitted.count == 1 && permitted.excluded.isEmpty)
        #expect(permitted.isProper && !permitted.hasMalformedExclusion)
    }

    @Test(
        arguments: [
            ([], false), ([list(0xA0)], false), ([list(0xA0, malformed)], false),
            ([list(0xA0, malformed), list(0xA1, one)], false), ([list(0xA0, one, malformed)], false),
            ([list(0xA0, malformed, one)], false),
            ([list(0xA1)], true), ([list(0xA1, malformed)], true), ([list(0xA0, one), list(0xA1, malformed)], true),
            ([list(0xA1, one, malformed)], true), ([list(0xA1, malformed, one)], true),
        ] as [([[UInt8]], Bool)])
    func malformedSubtreeIsKeptAndNoticed(lists: [[UInt8]], ofExclusion: Bool) throws {
        let constraints = try NameConstraints(DER(bytes: ASN1.sequence(of: lists)))
        #expect(!constraints.isProper)
        #expect(constraints.hasMalformedExclusion == ofExclusion)
    }

    /// The minimum is 0, which DER does not encode, and there is no maximum.
    @Test(arguments: [
        [list(0xA0, one + ASN1.value(0x80, [0]))], [list(0xA0, one + ASN1.value(0x81, [1]))],
        [list(0xA1, one), list(0xA0, one)], [list(0xA0, one), list(0xA1, one), ASN1.null], [list(0x80, one)],
        [list(0x81, one)], [list(0xA2, one)], [ASN1.value(0xA0, one)], [list(0xA0, ASN1.null)],
        [ASN1.value(0xA0, ASN1.sequence())],
    ])
    func anotherFormIsRefused(lists: [[UInt8]]) {
        #expect(throws: DERError.self) { try NameConstraints(DER(bytes: ASN1.sequence(of: lists))) }
    }

    @Test(
        arguments: [
            ([list(0xA0, one)], "one.example", true), ([list(0xA0, one)], "two.example", false),
            ([list(0xA0, one, two)], "two.example", true), ([list(0xA0, one, two)], "three.example", false),
            ([list(0xA1, one)], "one.example", false), ([list(0xA1, one)], "two.example", true),
            ([list(0xA1, one, two)], "two.example", false),
            ([list(0xA0, one), list(0xA1, ASN1.host("a.one.example"))], "a.one.example", false),
            ([list(0xA0, one), list(0xA1, ASN1.host("a.one.example"))], "b.one.example", true),
            // Constraints of other forms say nothing about hosts.
            ([list(0xA0, Part.mail("one.example"))], "two.example", true),
            ([list(0xA0, Part.mail("one.example"), one)], "two.example", false),
            ([list(0xA1, Part.mail("one.example"))], "one.example", true),
            // A wildcard is permitted as a whole, and excluded for a part.
            ([list(0xA0, ASN1.host("a.one.example"))], "*.one.example", false),
            ([list(0xA1, ASN1.host("a.one.example"))], "*.one.example", false),
        ] as [([[UInt8]], String, Bool)])
    func nameIsAdmitted(lists: [[UInt8]], host: String, isAdmitted: Bool) throws {
        let constraints = try NameConstraints(DER(bytes: ASN1.sequence(of: lists)))
        #expect(constraints.admits(ConstrainedName(GeneralName.host(Array(host.utf8)))) == isAdmitted)
    }

    // MARK: The form of a subtree

    private static let zeros = [UInt8](repeating: 0, count: 32)

    @Test(
        arguments: [
            ([255, 255, 255, 255], true), ([255, 255, 255, 0], true), ([255, 255, 254, 0], true),
            ([255, 128, 0, 0], true), ([128, 0, 0, 0], true), ([0, 0, 0, 0], true), ([255, 255, 255, 254], true),
            ([255, 0, 255, 0], false), ([255, 254, 1, 0], false), ([255, 254, 0, 1], false), ([255, 253, 0, 0], false),
            ([254, 255, 0, 0], false), ([1, 0, 0, 0], false), ([255, 255, 255, 1], false), ([127, 0, 0, 0], false),
        ] as [([UInt8], Bool)])
    func maskIsContiguous(mask: [UInt8], isConstraint: Bool) {
        #expect(GeneralName.address([192, 0, 2, 0] + mask).isConstraint == isConstraint)
        let long = [UInt8](repeating: 255, count: 12) + mask
        #expect(GeneralName.address(Self.zeros.prefix(16) + long).isConstraint == isConstraint)
    }

    @Test(arguments: [0, 4, 7, 9, 16, 31, 33])
    func networkHasTheOctetsOfTwoAddresses(count: Int) {
        #expect(!GeneralName.address([UInt8](repeating: 0, count: count)).isConstraint)
    }

    @Test(
        arguments: [
            ("example.com", true), ("", true), ("!", true), ("~", true), (".example.com", false), ("*.com", false),
            ("a*", false), ("exam ple", false), ("a\u{7F}", false), ("a\u{1F}", false), ("é", false),
        ])
    func hostHasAForm(text: String, isConstraint: Bool) {
        #expect(GeneralName.host(Array(text.utf8)).isConstraint == isConstraint)
        // Periods and asterisks have no meaning of their own there.
        let isPrintable = isConstraint || text.contains(/^[.*a-z]+$/)
        #expect(GeneralName.mail(Array(text.utf8)).isConstraint == isPrintable)
        #expect(GeneralName.uri(Array(text.utf8)).isConstraint == isPrintable)
        #expect(GeneralName.isPrintable(Array(text.utf8)) == isPrintable)
    }

    @Test func otherFormsAreNotExamined() {
        #expect(GeneralName.directory(ASN1.name("a")).isConstraint)
        #expect(GeneralName.other(0xA0).isConstraint)
    }
}

/// Names in certificates (RFC 5280, 4.2.1.6).
@Suite("General names", .timeLimit(.minutes(1)))
struct GeneralNameTests {
    private static func name(_ bytes: [UInt8]) throws -> GeneralName {
        let der = DER(bytes: bytes)
        return try GeneralName(der, der.root(bytes[0]))
    }

    @Test(
        arguments: [
            (0x81, .mail([0x61])), (0x82, .host([0x61])), (0x86, .uri([0x61])), (0x87, .address([0x61])),
            (0xA0, .other(0xA0)), (0xA3, .other(0xA3)), (0xA5, .other(0xA5)), (0x88, .other(0x88)),
        ] as [(UInt8, GeneralName)])
    func formIsReadFromTheTag(tag: UInt8, name: GeneralName) throws {
        #expect(try Self.name(ASN1.value(tag, [0x61])) == name)
    }

    @Test(arguments: [0x80, 0xA1, 0xA2, 0x83, 0x84, 0x85, 0xA6, 0xA7, 0xA8, 0x89, 0xA9, 0x16, 0x30, 0x42] as [UInt8])
    func otherTagIsRefused(tag: UInt8) {
        #expect(throws: DERError.self) { try Self.name(ASN1.value(tag, [])) }
    }

    @Test func directoryNameIsOneName() throws {
        let name = ASN1.name("a")
        #expect(try Self.name(ASN1.value(0xA4, name)) == .directory(name))
        for content in [[], name + name, ASN1.null, ASN1.value(0x31, [])] {
            #expect(throws: DERError.self) { try Self.name(ASN1.value(0xA4, content)) }
        }
    }

    @Test func listIsReadCompletely() throws {
        let der = DER(bytes: ASN1.sequence(ASN1.host("a"), Part.mail("b"), Part.uri("c")))
        #expect(try GeneralName.list(der, der.root(0x30)) == [.host([0x61]), .mail([0x62]), .uri([0x63])])
        let broken = DER(bytes: ASN1.sequence(ASN1.host("a"), ASN1.null))
        #expect(throws: DERError.self) { try GeneralName.list(broken, broken.root(0x30)) }
        let empty = DER(bytes: ASN1.sequence())
        #expect(try GeneralName.list(empty, empty.root(0x30)) == [])
    }

    @Test func serversAreIdentifiedByHostsAndAddresses() {
        let all: [GeneralName] = [.host([]), .address([]), .mail([]), .uri([]), .directory([]), .other(0xA0)]
        #expect(all.map(\.isForHost) == [true, true, false, false, false, false])
    }

    @Test(
        arguments: [
            (.host(Array("*.Example.com".utf8)), "\"*.example.com\""), (.host(Array("a.".utf8)), "\"a\""),
            (.address([192, 0, 2, 1]), "\"192.0.2.1\""),
            (.address([UInt8](repeating: 0, count: 15) + [1]), "\"::1\""),
            (.address([192, 0, 2]), "an address that cannot be read"),
            (.address([192, 0, 2, 1, 0]), "an address that cannot be read"),
            (.mail(Array("a@B".utf8)), "the mail address \"a@b\""), (.uri(Array("s://B/".utf8)), "a URI of \"b\""),
            (.uri(Array("urn:b".utf8)), "a URI of \"no host\""), (.other(0xA3), "a name of form 3"),
            (.directory(ASN1.name("a")), "its subject or another name in a directory"),
        ] as [(GeneralName, String)])
    func messagesShowNames(name: GeneralName, text: String) {
        #expect(ConstrainedName(name).description == text)
    }
}

/// Names of directories are compared by RFC 5280, 7.1.
@Suite("Distinguished names", .timeLimit(.minutes(1)))
struct DistinguishedNameTests {
    private static func attribute(_ value: [UInt8], _ identifier: String = "2.5.4.10") -> [UInt8] {
        ASN1.sequence(ASN1.object(identifier), value)
    }

    private static func name(_ sets: [[UInt8]]...) throws -> DistinguishedName {
        try DistinguishedName(ASN1.sequence(of: sets.map { ASN1.value(0x31, $0.flatMap { $0 }) }))
    }

    private static func text(_ tag: UInt8, _ text: String) -> [UInt8] { ASN1.value(tag, Array(text.utf8)) }

    @Test(arguments: [0x0C, 0x12, 0x13, 0x14, 0x16, 0x1A] as [UInt8])
    func stringTypesAreEqual(tag: UInt8) throws {
        let expected = try Self.name([Self.attribute(Self.text(0x0C, "Example Inc"))])
        for text in ["Example Inc", "EXAMPLE inc", " example   INC "] {
            #expect(try Self.name([Self.attribute(Self.text(tag, text))]) == expected)
        }
        #expect(try Self.name([Self.attribute(Self.text(tag, "ExampleInc"))]) != expected)
    }

    @Test func wideAndLatinTextIsDecoded() throws {
        let expected = try Self.name([Self.attribute(Self.text(0x0C, "Bücher €"))])
        let wide = "Bücher €".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(try Self.name([Self.attribute(ASN1.value(0x1E, wide))]) == expected)
        let latin = try Self.name([Self.attribute(ASN1.value(0x14, [0x42, 0xFC]))])
        #expect(try latin == Self.name([Self.attribute(Self.text(0x0C, "Bü"))]))
        let pair = "😀".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(
            try Self.name([Self.attribute(ASN1.value(0x1E, pair))]) == Self.name([Self.attribute(Self.text(0x0C, "😀"))])
        )
    }

    @Test(
        arguments: [
            (0x0C, [0x61, 0xE9]), (0x12, [0xE9]), (0x13, [0xE9]), (0x16, [0xE9]), (0x1A, [0xE9]), (0x1E, [0x00]),
            (0x1E, [0x00, 0x61, 0x00]), (0x1E, [0xD8, 0x00]), (0x1E, [0xDC, 0x00, 0xD8, 0x00]),
        ] as [(UInt8, [UInt8])])
    func textThatIsNotValidIsRefused(tag: UInt8, octets: [UInt8]) {
        #expect(throws: DERError.self) { try Self.name([Self.attribute(ASN1.value(tag, octets))]) }
    }

    /// A value of another type is compared with its tag.
    @Test func otherValuesAreComparedByTheirOctets() throws {
        let octets = try Self.name([Self.attribute(ASN1.octetString([0x61]))])
        #expect(try octets == Self.name([Self.attribute(ASN1.octetString([0x61]))]))
        #expect(try octets != Self.name([Self.attribute(ASN1.octetString([0x41]))]))
        #expect(try octets != Self.name([Self.attribute(ASN1.bitString([0x61]))]))
        #expect(try octets != Self.name([Self.attribute(Self.text(0x0C, "a"))]))
    }

    @Test func orderMattersAmongRelativeNamesOnly() throws {
        let (one, two) = (Self.attribute(Self.text(0x0C, "a")), Self.attribute(Self.text(0x0C, "b"), "2.5.4.3"))
        #expect(try Self.name([one, two]) == Self.name([two, one]))
        #expect(try Self.name([one], [two]) != Self.name([two], [one]))
        #expect(try Self.name([one], [two]) != Self.name([one, two]))
        #expect(try Self.name([one]) != Self.name([Self.attribute(Self.text(0x0C, "a"), "2.5.4.3")]))
        #expect(try Self.name([one], [two]).relativeNames.count == 2)
    }

    @Test func nameIsThePrefixOfAnother() throws {
        let (one, two) = (Self.attribute(Self.text(0x0C, "a")), Self.attribute(Self.text(0x0C, "b")))
        let (short, long) = (try Self.name([one]), try Self.name([one], [two]))
        #expect(short.isPrefix(of: short) && short.isPrefix(of: long) && !long.isPrefix(of: short))
        #expect(try !Self.name([two]).isPrefix(of: long) && Self.name().isPrefix(of: short))
        #expect(try !Self.name([two], [two]).isPrefix(of: long) && !Self.name([one], [one]).isPrefix(of: long))
    }

    @Test func mailAddressesAreFound() throws {
        let mail = "1.2.840.113549.1.9.1"
        let name = try Self.name(
            [Self.attribute(Self.text(0x0C, "a"))], [Self.attribute(Self.text(0x16, "a@b"), mail)],
            [Self.attribute(ASN1.octetString([1]), mail)])
        #expect(name.mailAddresses == ["a@b", ""])
    }

    @Test(arguments: [
        ASN1.null, ASN1.sequence(ASN1.sequence()), ASN1.sequence(ASN1.value(0x31, [])),
        ASN1.sequence(ASN1.value(0x31, ASN1.sequence())),
        ASN1.sequence(ASN1.value(0x31, attribute(ASN1.null + ASN1.null))),
        ASN1.sequence(ASN1.value(0x31, attribute([]))),
        ASN1.sequence(ASN1.value(0x31, attribute(ASN1.null) + ASN1.null)),
        ASN1.sequence() + ASN1.null,
    ])
    func anotherFormIsRefused(bytes: [UInt8]) {
        #expect(throws: DERError.self) { try DistinguishedName(bytes) }
    }
}
