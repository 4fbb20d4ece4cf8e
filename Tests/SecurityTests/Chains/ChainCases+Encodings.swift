import FoundationEssentials
import LinnetSecurity
import LinnetTesting

extension ChainCases {
    /// Values of extensions in encodings that OpenSSL reads, or has read, and that DER does not have.
    static let encodings: [ChainCase] = exclusions + malformedExclusions + alternatives + limits + policies

    /// Values that OpenSSL refuses, with a reason that depends on where it notices.
    static let unreadable: [ChainCase] = unreadableExclusions + unreadableAlternatives + unreadableLimits

    private static let name = Array("evil.example.com".utf8)

    /// A name of 16 octets in encodings other than `82 10 …` that OpenSSL reads.
    private static let forms: [(name: String, octets: [UInt8])] = [
        ("constructed", ASN1.value(0xA2, ASN1.value(0x16, name))),
        (
            "constructed, in two parts",
            ASN1.value(0xA2, ASN1.value(0x16, Array(name[..<4])) + ASN1.value(0x16, Array(name[4...])))
        ),
        ("with a long tag", [0x9F, 0x02, 0x10] + name),
        ("with a long tag, constructed", [0xBF, 0x02, 0x12, 0x16, 0x10] + name),
        ("with a length longer than necessary", [0x82, 0x81, 0x10] + name),
        ("with a length of three octets", [0x82, 0x82, 0x00, 0x10] + name),
        ("with an indefinite length", [0xA2, 0x80, 0x16, 0x10] + name + [0, 0]),
    ]

    /// The same in encodings that OpenSSL does not read.
    private static let foreignForms: [(name: String, octets: [UInt8])] = [
        ("constructed, without parts", ASN1.value(0xA2, name)),
        ("with a number out of range", ASN1.value(0x89, name)),
        ("as a string of its own", ASN1.value(0x16, name)),
        ("with an application's tag", ASN1.value(0x42, name)),
    ]

    private static let places: [(name: String, change: @Sendable (inout ChainDraft, [UInt8]) -> Void)] = [
        ("an authority", { $0.authority.set("2.5.29.30", critical: true, $1) }),
        ("the root", { $0.root.set("2.5.29.30", critical: true, $1) }),
    ]

    private static func excluding(_ name: String, _ value: [UInt8]) -> [ChainCase] {
        places.map { place in
            ChainCase("\(place.name) excludes a name \(name)", "4.1 and 4.2.1.10", .refused(.nameNotPermitted)) {
                ($0.host, $0.leaf) = ("evil.example.com", .server(hosts: ["*.example.com"]))
                place.change(&$0, value)
            }
        }
    }

    private static func excluded(_ names: [UInt8]) -> [UInt8] {
        ASN1.sequence(ASN1.value(0xA1, ASN1.sequence(names)))
    }

    private static let exclusions: [ChainCase] =
        forms.flatMap { excluding($0.name, excluded($0.octets)) }
        + excluding("and has octets after the value", excluded(ASN1.host("evil.example.com")) + ASN1.null)
        + [directory("constructed", [0x2C, 0x09, 0x0C, 0x07] + Array("Example".utf8))]

    private static let unreadableExclusions: [ChainCase] =
        foreignForms.flatMap { excluding($0.name, excluded($0.octets)) }
        + excluding("in a SET", ASN1.sequence(ASN1.value(0xA1, ASN1.value(0x31, ASN1.host("evil.example.com")))))
        + excluding("and has octets after the name", excluded(ASN1.host("evil.example.com") + ASN1.null))
        + excluding(
            "before those that it permits",
            ASN1.sequence(
                ASN1.value(0xA1, ASN1.sequence(ASN1.host("evil.example.com"))),
                ASN1.value(0xA0, ASN1.sequence(ASN1.host("example.com")))))
        + [
            directory("that is not UTF-8", ASN1.value(0x0C, Array("Exampl".utf8) + [0xE9])),
            directory("with half a character", ASN1.value(0x1E, [0, 0x45, 0])),
        ]

    private static func directory(_ name: String, _ value: [UInt8]) -> ChainCase {
        ChainCase("the root excludes an organization \(name)", "4.1 and 4.2.1.10", .refused(.nameNotPermitted)) {
            let attribute = ASN1.sequence(ASN1.object("2.5.4.10"), value)
            $0.root.constrain(excluded: [Part.directory(ASN1.sequence(ASN1.value(0x31, attribute)))])
            $0.leaf.subject = Part.organization("Example", "www.example.com")
        }
    }

    /// Correctly encoded octets that are invalid names. Rules do not apply to an anchor.
    private static let malformedExclusions: [ChainCase] = [
        ("NUL", ASN1.value(0x82, Array("other.exam\0ple".utf8))), ("8 bits", ASN1.value(0x82, [0x65, 0xE9])),
        ("a blank", ASN1.host("other. example")), ("a period in front", ASN1.host(".other.example")),
        ("a wildcard", ASN1.host("*.other.example")),
        ("a blank in a mail address", Part.mail("a@other .example")),
        ("8 bits in a URI's host", ASN1.value(0x86, [0x65, 0xE9])),
        ("a mask with holes", ASN1.address([10, 0, 0, 0, 255, 0, 255, 0])), ("no network", ASN1.address([10])),
    ].map { name, octets in
        ChainCase("the root excludes a name with \(name)", "4.2.1.10", .refused(.nameNotPermitted)) {
            $0.root.constrain(excluded: [octets])
        }
    }

    private static func alternative(
        _ form: (name: String, octets: [UInt8]), _ verdicts: ChainCase.Verdicts, isConstrained: Bool
    ) -> ChainCase {
        ChainCase(
            "a server's second name \(form.name)" + (isConstrained ? ", where names are constrained" : ""),
            "4.1, 4.2.1.6 and 4.2.1.10", verdicts
        ) {
            if isConstrained { $0.authority.constrain(excluded: [ASN1.host("evil.example.com")]) }
            $0.leaf.set("2.5.29.17", ASN1.sequence(ASN1.host("www.example.com"), form.octets))
        }
    }

    /// The lenient profile is OpenSSL's verdict unless names are constrained.
    private static let alternatives: [ChainCase] = forms.flatMap { form in
        [
            alternative(form, .byRule(.malformedExtension), isConstrained: false),
            alternative(form, .refused(.nameNotPermitted), isConstrained: true),
        ]
    }

    private static let unreadableAlternatives: [ChainCase] = foreignForms.flatMap { form in
        [false, true].map { alternative(form, .refused(.malformedExtension), isConstrained: $0) }
    }

    private static func root(
        _ name: String, _ identifier: String, _ value: [UInt8], strict: TrustRefusal.Reason = .malformedExtension
    ) -> ChainCase {
        let verdicts = ChainCase.Verdicts(default: .malformedExtension, strict: strict, lenient: .malformedExtension)
        return ChainCase("the root has \(name)", "4.1 and 4.2.1", verdicts) { $0.root.set(identifier, value) }
    }

    /// OpenSSL and the reader must agree on the parts of an anchor that OpenSSL enforces.
    private static let limits: [ChainCase] = [
        root(
            "a path length with a length longer than necessary", "2.5.29.19",
            ASN1.sequence(ASN1.yes, [0x02, 0x81, 0x01, 0x05]), strict: .flawedAnchor),
        root(
            "an authority that is TRUE by another octet", "2.5.29.19", ASN1.sequence([0x01, 0x01, 0x01]),
            strict: .flawedAnchor),
        root("a key usage in parts", "2.5.29.15", ASN1.value(0x23, ASN1.bitString([0x06], unused: 1))),
        root(
            "purposes with octets after them", "2.5.29.37",
            ASN1.sequence(ASN1.object("1.3.6.1.5.5.7.3.1")) + ASN1.null, strict: .flawedAnchor),
    ]

    private static let unreadableLimits: [ChainCase] =
        [root("a path length with a zero in front", "2.5.29.19", ASN1.sequence(ASN1.yes, ASN1.integer([0, 5])))]
        + [
            ("policy constraints that constrain nothing", ASN1.sequence()),
            ("policy constraints in parts", ASN1.sequence(ASN1.value(0xA0, ASN1.integer(5)))),
            ("policy constraints from a negative number on", ASN1.sequence(ASN1.value(0x80, [0xFF]))),
        ].map { name, value in
            ChainCase("an authority has \(name)", "4.1 and 4.2.1.11", .byRule(.malformedExtension)) {
                $0.authority.set("2.5.29.36", critical: true, value)
            }
        }

    private static let policies: [ChainCase] = [
        ("policies in a SET", "2.5.29.32", ASN1.sequence(ASN1.value(0x31, ASN1.object("1.2.3")))),
        ("no policies", "2.5.29.32", ASN1.sequence()),
        ("a mapping to nothing", "2.5.29.33", ASN1.sequence(ASN1.sequence(ASN1.object("1.2.3")))),
    ].map { name, identifier, value in
        ChainCase(
            "an authority has \(name)", "4.1 and 4.2.1",
            // OpenSSL processes policies only if they are constrained.
            .byRule(.malformedExtension)
        ) {
            $0.authority.set(identifier, critical: identifier != "2.5.29.32", value)
        }
    }
}
