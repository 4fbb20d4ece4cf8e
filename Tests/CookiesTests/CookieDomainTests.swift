import FoundationEssentials
import Testing

@testable import LinnetCookies

/// RFC 6265bis, sections 5.1.2, 5.1.3, 5.7 (steps 7 to 10) and 5.8.3.
@Suite("Cookie domains", .timeLimit(.minutes(1)))
struct CookieDomainTests {
    // Section 5.1.3.
    @Test(arguments: [
        ("site.example", "site.example", true), ("a.site.example", "site.example", true),
        ("a.b.site.example", "site.example", true),
        ("site.example", "a.site.example", false), ("asite.example", "site.example", false),
        ("example", "site.example", false),
        ("site.example", "example", true), ("site.example", "", false),
        ("a.site.example", "ite.example", false), ("a..site.example", "site.example", true),
    ])
    func aHostMatchesItselfAndTheDomainsAboveIt(host: String, domain: String, matches: Bool) {
        #expect(CookieMatching.domain(host, matches: domain) == matches)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let host: String
        let attribute: String
        let refusal: CookieRefusal?
        let sentTo: [String]
        var testDescription: String { "\(name): \(host), Domain=\(attribute)" }

        init(
            _ name: String, _ host: String, _ attribute: String, refused refusal: CookieRefusal? = nil,
            sentTo: String...
        ) {
            (self.name, self.host, self.attribute, self.refusal, self.sentTo) = (name, host, attribute, refusal, sentTo)
        }
    }

    private static let hosts = [
        "site.example", "a.site.example", "b.a.site.example", "other.example", "localhost", "127.0.0.1", "[::1]",
        "10.0.0.1",
        "site.co.uk", "a.site.co.uk", "xn--fiqs8s.xn--fiqs8s", "example", "io", "me.github.io", "www.ck", "a.www.ck",
    ]

    @Test(arguments: [
        Case("5.7.10 no domain", "site.example", "", sentTo: "site.example"),
        Case(
            "5.7.10 the host", "site.example", "site.example", sentTo: "site.example", "a.site.example",
            "b.a.site.example"),
        Case(
            "5.6.3 a leading dot", "site.example", ".site.example", sentTo: "site.example", "a.site.example",
            "b.a.site.example"),
        Case(
            "5.6.3 upper case", "SITE.example", "Site.EXAMPLE", sentTo: "site.example", "a.site.example",
            "b.a.site.example"),
        Case(
            "5.7.10 a domain above", "b.a.site.example", "site.example", sentTo: "site.example", "a.site.example",
            "b.a.site.example"),
        Case("5.7.10 one above", "b.a.site.example", "a.site.example", sentTo: "a.site.example", "b.a.site.example"),
        Case("5.7.10 a domain below", "site.example", "a.site.example", refused: .foreignDomain),
        Case("5.7.10 a domain beside", "a.site.example", "b.site.example", refused: .foreignDomain),
        Case("5.7.10 another domain", "site.example", "other.example", refused: .foreignDomain),
        Case("5.1.3 the end of a label", "asite.example", "site.example", refused: .foreignDomain),
        Case("5.6.3 two leading dots", "site.example", "..site.example", refused: .foreignDomain),
        Case("5.7.10 a trailing dot", "site.example", "site.example.", refused: .foreignDomain),
        Case("5.7.10 a leading and a trailing dot", "site.example", ".site.example.", refused: .foreignDomain),
        Case("5.1.2 a host with a trailing dot", "site.example.", "", sentTo: "site.example"),
        Case("5.7.10 a port", "site.example", "site.example:443", refused: .foreignDomain),
        Case("5.7.10 a URL", "site.example", "https://site.example", refused: .foreignDomain),
        Case("5.7.10 a wildcard", "a.site.example", "*.site.example", refused: .foreignDomain),
        Case("5.7.10 a space", "site.example", "site .example", refused: .foreignDomain),
        Case("5.7.8 beyond ASCII", "site.example", "síte.example", refused: .domainCharacters),
        Case("5.7.9 a public suffix", "site.example", "example", refused: .publicSuffix),
        Case("5.7.9 a public suffix with a dot", "site.example", ".example", refused: .publicSuffix),
        Case("5.7.9 a suffix of two labels", "site.co.uk", "co.uk", refused: .publicSuffix),
        Case("5.7.9 below it", "site.co.uk", "site.co.uk", sentTo: "site.co.uk", "a.site.co.uk"),
        Case("5.7.9 a private suffix", "me.github.io", "github.io", refused: .publicSuffix),
        Case("5.7.9 an unknown top-level domain", "a.internal", "internal", refused: .publicSuffix),
        Case("5.7.9 a wildcard rule", "a.b.ck", "b.ck", refused: .publicSuffix),
        Case("5.7.9 an exception", "a.www.ck", "www.ck", sentTo: "www.ck", "a.www.ck"),
        Case("5.7.9 a suffix that is the host", "example", "example", sentTo: "example"),
        Case("5.7.9 localhost", "localhost", "localhost", sentTo: "localhost"),
        Case("5.7.9 below localhost", "a.localhost", "localhost", refused: .publicSuffix),
        Case("5.1.2 A-labels", "xn--fiqs8s.xn--fiqs8s", "XN--fiqs8s.xn--FIQS8S", sentTo: "xn--fiqs8s.xn--fiqs8s"),
        Case("5.7.9 an A-label that is a suffix", "a.xn--fiqs8s", "xn--fiqs8s", refused: .publicSuffix),
        Case("5.1.3 an address", "10.0.0.1", "", sentTo: "10.0.0.1"),
        Case("5.1.3 an address as its domain", "10.0.0.1", "10.0.0.1", sentTo: "10.0.0.1"),
        Case("5.1.3 an address with a dot", "10.0.0.1", ".10.0.0.1", sentTo: "10.0.0.1"),
        Case("5.1.3 the end of an address", "10.0.0.1", "0.0.1", refused: .foreignDomain),
        Case("5.1.3 the last number of an address", "10.0.0.1", "1", refused: .foreignDomain),
        Case("5.1.3 IPv6", "[0:0::1]", "", sentTo: "[::1]"),
        Case("5.1.3 IPv6 as its domain", "[::1]", "::1", sentTo: "[::1]"),
        Case("5.1.3 IPv6 in brackets", "[::1]", "[::1]", sentTo: "[::1]"),
        Case("5.1.3 IPv4 in IPv6", "[::ffff:10.0.0.1]", "", sentTo: "10.0.0.1"),
    ])
    func cookiesAreSentToTheirDomain(_ it: Case) throws {
        var table = CookieTable(suffixes: testSuffixes)
        let field = it.attribute.isEmpty ? "a=1" : "a=1; Domain=\(it.attribute)"
        #expect(try table.refusal(of: field, from: "https://\(it.host)/") == it.refusal)
        let reached = try Self.hosts.filter { host in
            let request = try #require(CookieRequest(try url("https://\(host)/"), .sameSite, testSuffixes))
            return !table.cookies(for: request, now: testTime).isEmpty
        }
        #expect(Set(reached) == Set(it.sentTo))
    }

    // Section 8.5: neither ports nor schemes separate cookies.
    @Test func portsAndSchemesShareCookies() throws {
        let jar = makeJar()
        try jar.receive("a=1", from: "https://site.example:8443/")
        #expect(try jar.string(for: "http://site.example/") == "a=1")
        #expect(try jar.string(for: "http://user:password@site.example:8080/") == "a=1")
    }

    @Test(arguments: [
        "ftp://site.example/", "file:///etc/passwd", "ws://site.example/", "https:///", "/path", "https://ex ample/",
    ])
    func otherURLsHaveNoCookies(address: String) throws {
        let jar = makeJar()
        jar.set(try makeCookie("a"))
        guard let other = URL(string: address) else { return }
        #expect(jar.store(setCookieFields: fields(["b=1"]), of: other).isEmpty)
        #expect(jar.cookies(for: other).isEmpty)
        #expect(jar.all.count == 1)
    }

    // Section 5.8.3, step 3: the list may have changed since the cookie was stored.
    @Test func aCookieOfASuffixIsSentToTheSuffixAlone() throws {
        let jar = makeJar()
        jar.set(try makeCookie("a", domain: "co.uk", isHostOnly: false))
        #expect(try jar.string(for: "https://site.co.uk/") == "")
        #expect(try jar.string(for: "https://co.uk/") == "a=v")
    }

    // Section 5.1.4: the default path, and matching.
    @Test(arguments: [
        ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/", "/a/b"), ("/a//b", "/a/"), ("//", "/"),
        ("//a", "/"),
        ("", "/"), ("a/b", "/"), ("/a/b?c", "/a"), ("/%2F/a", "/%2F"),
    ])
    func theDefaultPathEndsBeforeTheLastSlash(path: String, expected: String) {
        #expect(CookieMatching.defaultPath(of: CookieBytes(path)).text == expected)
    }

    @Test(arguments: [
        ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/", "/a", true), ("/a/b", "/a", true),
        ("/a/b", "/a/", true),
        ("/ab", "/a", false), ("/a", "/a/", false), ("/", "/a", false), ("/A", "/a", false), ("/a//b", "/a/", true),
        ("/a%2Fb", "/a/b", false), ("/%61", "/a", false), ("/a.b", "/a", false), ("/a;x/b", "/a", false),

    ])
    func aPathMatchesItselfAndThoseBelowIt(path: String, cookiePath: String, matches: Bool) {
        #expect(CookieMatching.path(CookieBytes(path), matches: CookieBytes(cookiePath)) == matches)
    }

    @Test(arguments: [
        ("https://site.example", "/"), ("https://site.example?a/b", "/"), ("https://site.example/a/b?c/d#e/f", "/a"),
        ("https://site.example/a/b#/c", "/a"), ("https://site.example/a/../b/c", "/a/../b"),
    ])
    func thePathOfARequestIsThatOfItsURL(address: String, expected: String) throws {
        let jar = makeJar()
        try jar.receive("a=1", from: address)
        #expect(jar.all.first?.path == expected)
        #expect(try jar.string(for: address) == "a=1")
    }
}
