import FoundationEssentials
import Testing

@testable import LinnetCookies

@Suite("Public suffixes", .timeLimit(.minutes(1)))
struct PublicSuffixListTests {
    // The algorithm of publicsuffix.org: the longest rule, wildcards, exceptions, and the last label without a rule.
    @Test(
        arguments: [
            ("com", nil), ("site.com", "site.com"), ("a.site.com", "site.com"), ("SITE.Com", "site.com"),
            ("site.com.", "site.com"),
            ("jp", nil), ("site.jp", "site.jp"), ("co.jp", nil), ("site.co.jp", "site.co.jp"),
            ("a.b.site.co.jp", "site.co.jp"),
            ("kawasaki.jp", "kawasaki.jp"), ("b.kawasaki.jp", nil), ("a.b.kawasaki.jp", "a.b.kawasaki.jp"),
            ("x.a.b.kawasaki.jp", "a.b.kawasaki.jp"), ("city.kawasaki.jp", "city.kawasaki.jp"),
            ("a.city.kawasaki.jp", "city.kawasaki.jp"), ("ck", nil), ("b.ck", nil), ("a.b.ck", "a.b.ck"),
            ("www.ck", "www.ck"),
            ("a.www.ck", "www.ck"), ("github.io", nil), ("io", nil), ("other.io", "other.io"),
            ("me.github.io", "me.github.io"),
            ("unknown", nil), ("a.unknown", "a.unknown"), ("x.a.unknown", "a.unknown"), ("localhost", nil),
            ("xn--fiqs8s", nil), ("a.xn--fiqs8s", "a.xn--fiqs8s"), ("xn--55qx5d.cn", nil),
            ("a.xn--55qx5d.cn", "a.xn--55qx5d.cn"),
            ("10.0.0.1", nil), ("::1", nil), ("", nil), (".com", nil), ("a b.com", nil), ("中国", nil), ("a..com", nil),
            ("127.1", nil),
        ] as [(String, String?)])
    func registrableDomains(host: String, expected: String?) {
        #expect(testSuffixes.registrableDomain(of: host) == expected)
    }

    @Test(arguments: [
        ("com", true), ("COM.", true), ("site.com", false), ("b.kawasaki.jp", true), ("kawasaki.jp", false),
        ("city.kawasaki.jp", false), ("unknown", true), ("10.0.0.1", false), ("", false), ("not a host", false),
    ])
    func publicSuffixes(domain: String, isSuffix: Bool) {
        #expect(testSuffixes.isPublicSuffix(domain) == isSuffix)
    }

    @Test func linesWithoutARuleAreIgnored() {
        let list = PublicSuffixList(
            parsing:
                "// com\r\n\r\n  net  comment\n\torg\n!\n*.\n*\n!!\na b\n..\n\u{FEFF}\nx\u{0}y\nUPPER.Case\n*.*.com\na.*.b\n"
        )
        #expect(list.isPublicSuffix("upper.case"))
        #expect(!list.isPublicSuffix("a.upper.case"))
        #expect(list.registrableDomain(of: "a.site.net") == "site.net")
        #expect(list.registrableDomain(of: "a.b.com") == "b.com")
    }

    @Test func linesEndInAnyWay() {
        let list = PublicSuffixList(parsing: "co.uk\r\nco.jp\rgithub.io\n")
        for suffix in ["co.uk", "co.jp", "github.io"] { #expect(list.isPublicSuffix(suffix), "\(suffix)") }
        #expect(list.count == 3)
    }

    @Test func rulesAreReadInAnyCase() {
        let list = PublicSuffixList(parsing: "CO.UK\nCo.Jp\n*.CK\n!WWW.CK")
        for suffix in ["co.uk", "co.jp", "a.ck"] { #expect(list.isPublicSuffix(suffix), "\(suffix)") }
        #expect(!list.isPublicSuffix("www.ck"))
    }

    @Test(arguments: [".CO.UK", "CO..UK", ".co.uk", "co..uk"])
    func rulesWithEmptyLabelsAreIgnored(rule: String) {
        #expect(!PublicSuffixList(parsing: rule).isPublicSuffix("co.uk"))
    }

    @Test(arguments: [("", nil), ("// com\n", nil), ("com\n", 1)] as [(String, Int?)])
    func aFileHasAtLeastOneRule(contents: String, count: Int?) async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "list.dat")
            try Data(contents.utf8).write(to: file)
            #expect(PublicSuffixList(contentsOf: file)?.count == count)
        }
    }

    @Test func labelsBeyondASCIIAreALabels() {
        // RFC 3492, section 7.1, the examples in lower case.
        for (label, expected) in [
            ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"), ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"), ("pročprostěnemluvíčesky", "proprostnemluvesky-uyb24dma41a"),
            ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
            ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
            ("porquénopuedensimplementehablarenespañol", "porqunopuedensimplementehablarenespaol-fmd56a"),
            ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
            ("安室奈美恵-with-super-monkeys", "-with-super-monkeys-pc58ag80a8qai00g7n9n"),
            ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"), ("そのスピードで", "d9juau41awczczp"), ("bücher", "bcher-kva"),
            ("\u{10FFFF}", "dn32g"),
            // The first code point beyond ASCII.
            ("\u{80}", "a"), ("a\u{80}", "a-ba"),
            // The bias after the first one has a quotient of 455, and then of 456, at the limit of section 3.4.
            ("\u{F961}aaa\u{F960}", "aaa-qb2sb"), ("\u{26FF0}\u{26FF1}", "9j4kca"),
        ] {
            #expect(Punycode.label(label[...]) == "xn--" + expected)
        }
        #expect(Punycode.label("ascii") == "ascii")
        #expect(Punycode.label(Substring(String(repeating: "é", count: 64))) == nil)
        #expect(
            Punycode.label(
                Substring(String((0..<40).compactMap { UnicodeScalar(0x4E00 + $0 * 97).map(Character.init) }))) == nil)
    }

    /// A label has at most 63 bytes with "xn--" (RFC 5890, section 2.3.2.1).
    @Test(
        arguments: [(54, "t0e"), (55, "u3e"), (56, nil), (57, nil), (58, nil), (59, nil), (60, nil)] as [(Int, String?)]
    )
    func anALabelHasAtMost63Bytes(letters: Int, ending: String?) {
        let ascii = String(repeating: "a", count: letters)
        let label = Punycode.label(Substring(ascii + "é"))
        #expect(label == ending.map { "xn--\(ascii)-\($0)" })
        #expect(label?.utf8.count ?? 0 <= 63)
    }

    @Test func withoutDataTheLastLabelIsASuffix() throws {
        let list = PublicSuffixList.lastLabel
        #expect(list.count == 0)
        #expect(list.isPublicSuffix("com") && list.isPublicSuffix("localhost"))
        #expect(list.registrableDomain(of: "a.site.com") == "site.com")
        let jar = makeJar(suffixes: list)
        #expect(try jar.receive("a=1; Domain=com", from: "https://site.com/") == 0)
        #expect(try jar.receive("a=1; Domain=site.com", from: "https://a.site.com/") == 1)
        // The limits of the fallback.
        #expect(!list.isPublicSuffix("co.uk"))
        #expect(try jar.receive("a=1; Domain=co.uk", from: "https://site.co.uk/") == 1)
        #expect(PublicSuffixList(contentsOf: URL(filePath: "/nonexistent/list.dat")) == nil)
        #expect(PublicSuffixList(contentsOf: URL(filePath: "/dev/null")) == nil)
    }

    private static let hasData = PublicSuffixList.systemPaths.contains { FileManager.default.fileExists(atPath: $0) }

    @Test(.enabled(if: hasData, "the package publicsuffix is not installed"))
    func theSystemsListIsRead() {
        let list = PublicSuffixList.system
        #expect(list.count > 5000)
        for suffix in [
            "com", "co.uk", "github.io", "eu-west-1.compute.amazonaws.com", "any.ck", "xn--55qx5d.cn", "xn--fiqs8s",
        ] {
            #expect(list.isPublicSuffix(suffix), "\(suffix)")
        }
        for domain in ["example.com", "www.ck", "city.kawasaki.jp", "bbc.co.uk"] {
            #expect(!list.isPublicSuffix(domain), "\(domain)")
        }
        #expect(list.registrableDomain(of: "www.bbc.co.uk") == "bbc.co.uk")
        #expect(CookieJar().configuration.publicSuffixes.count == list.count)
    }
}
