import FoundationEssentials
import LinnetSecurity
import LinnetTesting

extension ChainCases {
    private typealias Change = (inout CertificateTemplate) -> Void

    /// The position of a certificate in the chain.
    private static let places: [(name: String, change: @Sendable (inout ChainDraft, Change) -> Void)] = [
        ("the root", { draft, change in change(&draft.root) }),
        ("an authority", { draft, change in change(&draft.authority) }),
        ("a server", { draft, change in change(&draft.leaf) }),
    ]

    private static let moment = Date(timeIntervalSince1970: 1_750_000_000)
    private static let (past, exact, future) = ("250615150639Z", "250615150640Z", "250615150641Z")

    /// Certificates valid for twenty years, evaluated on 2025-06-15 at 15:06:40.
    private static func on(
        _ name: String, _ section: String, _ verdicts: ChainCase.Verdicts, offset: TimeInterval = 0,
        change: @escaping @Sendable (inout ChainDraft) -> Void
    ) -> ChainCase {
        ChainCase(name, section, verdicts) { draft in
            draft.time = moment.addingTimeInterval(offset)
            for place in places {
                place.change(&draft) {
                    $0.notBefore = ASN1.utcTime("200101000000Z")
                    $0.notAfter = ASN1.utcTime("400101000000Z")
                }
            }
            change(&draft)
        }
    }

    /// Validity periods.
    static let validity: [ChainCase] = places.flatMap { edges($0.name, $0.change) } + forms

    private static func edges(
        _ name: String, _ place: @escaping @Sendable (inout ChainDraft, Change) -> Void
    ) -> [ChainCase] {
        [
            on("\(name) from this second on", "4.1.2.5", .accepted) { draft in
                place(&draft) { $0.notBefore = ASN1.utcTime(exact) }
            },
            on("\(name) from the next second on", "4.1.2.5", .refused(.notYetValid)) { draft in
                place(&draft) { $0.notBefore = ASN1.utcTime(future) }
            },
            on("\(name) to this second", "4.1.2.5", .accepted) { draft in
                place(&draft) { $0.notAfter = ASN1.utcTime(exact) }
            },
            on("\(name) to the last second", "4.1.2.5", .refused(.expired)) { draft in
                place(&draft) { $0.notAfter = ASN1.utcTime(past) }
            },
        ]
    }

    private static let forms = [
        on("within the last second", "4.1.2.5", .accepted, offset: 0.5) { $0.leaf.notAfter = ASN1.utcTime(exact) },
        on("within the second before the first", "4.1.2.5", .refused(.notYetValid), offset: -0.5) {
            $0.leaf.notBefore = ASN1.utcTime(exact)
        },
        on("all to this second", "4.1.2.5", .accepted) {
            $0.root.notAfter = ASN1.utcTime(exact)
            $0.authority.notAfter = ASN1.utcTime(exact)
            $0.leaf.notAfter = ASN1.utcTime(exact)
        },
        on("one second in all", "4.1.2.5", .accepted) {
            $0.leaf.notBefore = ASN1.utcTime(exact)
            $0.leaf.notAfter = ASN1.utcTime(exact)
        },
        on("an end before its beginning", "4.1.2.5", .refused(.notYetValid)) {
            $0.leaf.notBefore = ASN1.utcTime(future)
            $0.leaf.notAfter = ASN1.utcTime(past)
        },
        on("from 1950 on, in two digits", "4.1.2.5.1", .accepted) { $0.leaf.notBefore = ASN1.utcTime("500101000000Z") },
        on("from 2049 on, in two digits", "4.1.2.5.1", .refused(.notYetValid)) {
            $0.leaf.notBefore = ASN1.utcTime("490101000000Z")
            $0.leaf.notAfter = ASN1.utcTime("491231000000Z")
        },
        on("to 2050, in four digits", "4.1.2.5", .accepted) {
            $0.leaf.notAfter = ASN1.generalizedTime("20500101000000Z")
        },
        on("without an end", "4.1.2.5", .accepted) { $0.leaf.notAfter = ASN1.generalizedTime("99991231235959Z") },
        on("before 2050, in four digits", "4.1.2.5", .byRule(.validityEncoding)) {
            $0.leaf.notAfter = ASN1.generalizedTime("20400101000000Z")
        },
        on("an authority before 2050, in four digits", "4.1.2.5", .byRule(.validityEncoding)) {
            $0.authority.notAfter = ASN1.generalizedTime("20400101000000Z")
        },
        on("a root before 2050, in four digits", "6.1.1 (d)", .accepted) {
            $0.root.notAfter = ASN1.generalizedTime("20400101000000Z")
        },
        on("without seconds", "4.1.2.5.1", .refused(.validityEncoding)) {
            $0.leaf.notAfter = ASN1.utcTime("4001010000Z")
        },
        on("with a time zone", "4.1.2.5.1", .refused(.validityEncoding)) {
            $0.leaf.notAfter = ASN1.utcTime("400101000000+0000")
        },
        on("with fractions of a second", "4.1.2.5.2", .refused(.validityEncoding)) {
            $0.leaf.notAfter = ASN1.generalizedTime("20500101000000.5Z")
        },
        on("on the 29th of February 2100", "4.1.2.5.2", .refused(.validityEncoding)) {
            $0.leaf.notAfter = ASN1.generalizedTime("21000229000000Z")
        },
        on("on the 31st of April", "4.1.2.5.1", .refused(.validityEncoding)) {
            $0.leaf.notAfter = ASN1.utcTime("400431000000Z")
        },
        on("at 24 o'clock", "4.1.2.5.1", .refused(.validityEncoding)) {
            $0.leaf.notAfter = ASN1.utcTime("400101240000Z")
        },
        on("in the 61st second", "4.1.2.5.1", .refused(.validityEncoding)) {
            $0.authority.notAfter = ASN1.utcTime("400101000060Z")
        },
        on("in the thirteenth month", "4.1.2.5.1", .refused(.validityEncoding)) {
            $0.leaf.notAfter = ASN1.utcTime("401301000000Z")
        },
    ]
}
