import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCookies

/// RFC 6265bis, section 5.7 (steps 12 to 22), and the conditions on connection and site of section 5.8.3.
@Suite("Cookie security", .timeLimit(.minutes(1)))
struct CookieSecurityTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let field: String
        let address: String
        let refusal: CookieRefusal?

        init(
            _ name: String, _ field: String, _ address: String = "https://site.example/", refused: CookieRefusal? = nil
        ) {
            (testDescription, self.field, self.address, refusal) = ("\(name): \(field)", field, address, refused)
        }
    }

    @Test(arguments: [
        // Step 13.
        Case("5.7.13 secure over http", "a=1; Secure", "http://site.example/", refused: .insecureOrigin),
        Case("5.7.13 secure over https", "a=1; Secure"),
        Case("5.7.13 secure on localhost", "a=1; Secure", "http://localhost:8080/"),
        Case("5.7.13 secure on loopback", "a=1; Secure", "http://127.1.2.3/"),
        Case("5.7.13 secure on IPv6 loopback", "a=1; Secure", "http://[::1]/"),
        Case("5.7.13 secure below localhost", "a=1; Secure", "http://a.localhost/", refused: .insecureOrigin),
        Case("5.7.13 secure on another address", "a=1; Secure", "http://128.0.0.1/", refused: .insecureOrigin),
        Case("5.7.13 secure on another IPv6 address", "a=1; Secure", "http://[::2]/", refused: .insecureOrigin),
        // Step 19.
        Case("5.7.19 SameSite=None", "a=1; SameSite=None", refused: .sameSiteNone),
        Case("5.7.19 SameSite=None, secure", "a=1; SameSite=None; Secure"),
        // Step 20, and section 5.4: the prefixes in any case.
        Case("5.7.20 __Secure-", "__Secure-a=1; Domain=site.example", refused: .securePrefix),
        Case("5.7.20 __secure-", "__secure-a=1; Path=/", refused: .securePrefix),
        Case("5.7.20 __SECURE-", "__SECURE-a=1", refused: .securePrefix),
        Case("5.7.20 __SeCuRe-", "__SeCuRe-a=1", refused: .securePrefix),
        Case("5.7.20 __Secure- secure", "__Secure-a=1; Secure; Domain=site.example"),
        Case("5.7.20 one underscore", "_Secure-a=1"),
        Case("5.7.20 no hyphen", "__Secure=1"),
        Case("5.7.20 elsewhere", "a__Secure-=1"),
        Case("5.7.20 the name alone", "__Secure-=1", refused: .securePrefix),
        // Step 21.
        Case("5.7.21 __Host-", "__Host-a=1", refused: .hostPrefix),
        Case("5.7.21 __Host- secure", "__host-a=1; Secure", refused: .hostPrefix),
        Case("5.7.21 __Host- with a domain", "__Host-a=1; Secure; Path=/; Domain=site.example", refused: .hostPrefix),
        Case("5.7.21 __Host- with a path below", "__Host-a=1; Secure; Path=/a", refused: .hostPrefix),
        Case("5.7.21 __Host- with no path", "__HOST-a=1; Secure", "https://site.example/", refused: .hostPrefix),
        Case("5.7.21 __Host- not secure", "__Host-a=1; Path=/", refused: .hostPrefix),
        Case("5.7.21 __Host- as it should be", "__Host-a=1; Secure; Path=/"),
        Case("5.7.21 __host- as it should be", "__host-a=1; Path=/; Secure; HttpOnly"),
        Case("5.7.21 __Host- with an empty domain", "__Host-a=1; Secure; Path=/; Domain="),
        Case("5.7.21 __Host- with a path that is the default", "__Host-a=1; Secure; Path=x", "https://site.example/a"),
        Case(
            "5.7.21 __Host- with a default that is not", "__Host-a=1; Secure; Path=x", "https://site.example/a/b",
            refused: .hostPrefix),
        // Step 22.
        Case("5.7.22 a nameless __Host-", "=__Host-a=1; Secure; Path=/", refused: .namelessPrefix),
        Case("5.7.22 a nameless __secure-", "__secure-a; Secure; Path=/", refused: .namelessPrefix),
        Case("5.7.22 a value with a name", "a=__Host-a=1"),
        Case("5.7.22 a nameless __Http-", "=__http-a=1; Secure; HttpOnly", refused: .namelessPrefix),
        Case("5.7.22 a nameless __Host-Http-", "__Host-Http-a; Secure; HttpOnly; Path=/", refused: .namelessPrefix),
        Case("5.7.22 equals signs before the name", "== =__Host-a=1; Secure; Path=/", refused: .namelessPrefix),
        Case("5.7.22 no name at all", "=_Host-a=1"),
        // The prefixes of the successor: the cookie is secure, and out of reach of scripts.
        Case("__Http-", "__Http-a=1", refused: .httpPrefix),
        Case("__Http- not HttpOnly", "__HTTP-a=1; Secure", refused: .httpPrefix),
        Case("__Http- not secure", "__http-a=1; HttpOnly", refused: .httpPrefix),
        Case("__Http- as it should be", "__Http-a=1; Secure; HttpOnly; Domain=site.example; Path=/a"),
        Case("__Host-Http- not HttpOnly", "__Host-Http-a=1; Secure; Path=/", refused: .httpPrefix),
        Case(
            "__Host-Http- with a domain", "__Host-Http-a=1; Secure; HttpOnly; Path=/; Domain=site.example",
            refused: .hostPrefix),
        Case("__Host-Http- as it should be", "__host-http-a=1; Secure; HttpOnly; Path=/"),
        Case("one underscore", "_Http-a=1"), Case("no hyphen", "__Http=1"),
    ])
    func rulesOfSecureCookies(_ it: Case) throws {
        var table = CookieTable(suffixes: testSuffixes)
        #expect(try table.refusal(of: it.field, from: it.address) == it.refusal)
        #expect(table.count == (it.refusal == nil ? 1 : 0))
    }

    // Section 5.8.3, step 3.
    @Test func secureCookiesAreSentOverSecureConnections() throws {
        let jar = makeJar()
        try jar.receive("a=1; Secure", "b=2", from: "https://site.example/")
        #expect(try jar.string(for: "https://site.example/") == "a=1; b=2")
        #expect(try jar.string(for: "http://site.example/") == "b=2")
    }

    // Section 5.7, step 16: the examples of its note, and domains.
    @Test(arguments: [
        ("https://site.example/", "a=1; Secure; Path=/login", "http://site.example/", "a=2; Path=/", true),
        ("https://site.example/", "a=1; Secure; Path=/login", "http://site.example/", "a=2; Path=/foo", true),
        ("https://site.example/", "a=1; Secure; Path=/login", "http://site.example/", "a=2; Path=/login", false),
        ("https://site.example/", "a=1; Secure; Path=/login", "http://site.example/", "a=2; Path=/login/en", false),
        ("https://site.example/", "a=1; Secure", "http://site.example/", "b=2", true),
        ("https://site.example/", "a=1; Secure", "http://site.example/", "A=2", true),
        // A server reads the value of a cookie without a name as a name and a value.
        ("https://site.example/", "a=1; Secure", "http://site.example/", "=a=2", false),
        ("https://site.example/", "a=1; Secure", "http://site.example/", "= a =2", false),
        ("https://site.example/", "=a=1; Secure", "http://site.example/", "a=2", false),
        ("https://site.example/", "a=1; Secure", "http://site.example/", "=a", true),
        ("https://site.example/", "a=1; Secure", "http://site.example/", "=b=2", true),
        ("https://site.example/", "x; Secure", "http://site.example/", "y", false),
        ("https://site.example/", "x; Secure", "http://site.example/", "==y", false),
        ("https://site.example/", "==x; Secure", "http://site.example/", "y", false),
        ("https://site.example/", "a=1", "http://site.example/", "a=2", true),
        ("https://site.example/", "a=1; Secure", "http://site.example/", "a=; Max-Age=0", false),
        ("https://site.example/", "a=1; Secure", "https://site.example/", "a=2", true),
        ("https://a.site.example/", "a=1; Secure", "http://b.site.example/", "a=2; Domain=site.example", false),
        ("https://a.site.example/", "a=1; Secure", "http://b.site.example/", "a=2", true),
        ("https://site.example/", "a=1; Secure; Domain=site.example", "http://a.site.example/", "a=2", false),
        ("https://site.example/", "a=1; Secure", "http://other.example/", "a=2", true),
        ("https://10.0.0.1/", "a=1; Secure", "http://10.0.0.1/", "a=2", false),
    ])
    func aSecureCookieIsNotHiddenByAnother(
        from first: String, has: String, from second: String, sets: String, isStored: Bool
    ) throws {
        var table = CookieTable(suffixes: testSuffixes)
        #expect(try table.refusal(of: has, from: first) == nil)
        let secure = table.all(now: testTime)
        #expect(try table.refusal(of: sets, from: second) == (isStored ? nil : .overlaysSecure))
        if !isStored { #expect(table.all(now: testTime) == secure) }
    }

    @Test func aSecureCookieIsNotHiddenAfterTheRemovalOfAnother() throws {
        var table = CookieTable(suffixes: testSuffixes)
        for field in ["a=1; Secure", "b=2", "b=; Max-Age=0", "c=3; Secure", "c=; Secure; Max-Age=0"] {
            #expect(try table.refusal(of: field, from: "https://site.example/") == nil)
            #expect(try table.refusal(of: "a=2", from: "http://site.example/") == .overlaysSecure)
        }
        #expect(table.all(now: testTime).map(\.value) == ["1"])
    }

    // A secure cookie that has expired protects nothing (section 5.7: expired cookies are evicted at any time).
    @Test func anExpiredSecureCookieIsGone() throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        try jar.receive("a=1; Secure; Max-Age=10", from: "https://site.example/")
        #expect(try jar.receive("a=2", from: "http://site.example/") == 0)
        clock.advance(by: 10)
        #expect(try jar.receive("a=2", from: "http://site.example/") == 1)
    }

    struct SiteCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let context: CookieContext
        let sent: String
        let isStored: Bool

        init(
            _ name: String, _ document: String?, _ method: HTTPRequest.Method = .get, navigates: Bool = false,
            sends sent: String,
            stores isStored: Bool
        ) {
            testDescription = name
            context = CookieContext(
                mainDocument: document.flatMap { URL(string: $0) }, isTopLevelNavigation: navigates, method: method)
            (self.sent, self.isStored) = (sent, isStored)
        }
    }

    // Sections 5.2, 5.6.7.1, 5.7 (step 18) and 5.8.3 (step 3).
    @Test(arguments: [
        SiteCase("5.2 no client", nil, sends: "d l s n", stores: true),
        SiteCase("5.2 no client, POST", nil, .post, sends: "d l s n", stores: true),
        SiteCase("5.2.1 the same site", "https://site.example/page", sends: "d l s n", stores: true),
        SiteCase("5.2.1 a domain below", "https://a.b.site.example:8443/", .post, sends: "d l s n", stores: true),
        SiteCase("5.2 another scheme", "http://site.example/", sends: "n", stores: false),
        SiteCase("5.2 another site", "https://other.example/", sends: "n", stores: false),
        SiteCase("5.2 another site under the suffix", "https://example/", sends: "n", stores: false),
        SiteCase("5.2 a document without a site", "file:///page.html", sends: "n", stores: false),
        SiteCase(
            "5.6.7.1 another site navigates", "https://other.example/", navigates: true, sends: "d l n", stores: true),
        SiteCase("5.6.7.1 HEAD", "https://other.example/", .head, navigates: true, sends: "d l n", stores: true),
        SiteCase("5.6.7.1 OPTIONS", "https://other.example/", .options, navigates: true, sends: "d l n", stores: true),
        SiteCase("5.6.7.1 POST", "https://other.example/", .post, navigates: true, sends: "n", stores: true),
        SiteCase("5.6.7.1 PUT", "https://other.example/", .put, navigates: true, sends: "n", stores: true),
        SiteCase(
            "5.6.7.1 a method that is unknown", "https://other.example/", .init("REPORT") ?? .post, navigates: true,
            sends: "n", stores: true),
        SiteCase("5.6.7.1 safe, but no navigation", "https://other.example/", .get, sends: "n", stores: false),
    ])
    func sitesDecideAboutSameSiteCookies(_ it: SiteCase) throws {
        let jar = makeJar()
        let address = "https://www.site.example/"
        let received = ["d=1", "l=1; SameSite=Lax", "s=1; SameSite=Strict", "n=1; SameSite=None; Secure"]
        for field in received { try jar.receive(field, from: address) }
        let sent = jar.cookies(for: try url(address), context: it.context).map(\.name)
        #expect(sent.joined(separator: " ") == it.sent)
        for attributes in ["", "; SameSite=Lax", "; SameSite=Strict"] {
            #expect(try jar.receive("x=1\(attributes)", from: address, context: it.context) == (it.isStored ? 1 : 0))
        }
        #expect(try jar.receive("x=1; SameSite=None; Secure", from: address, context: it.context) == 1)
    }

    // Section 5.2: hosts without a registrable domain are the same site only if they are equal.
    @Test(arguments: [
        ("http://10.0.0.1/", "http://10.0.0.1:8080/", true), ("http://10.0.0.1/", "http://10.0.0.2/", false),
        ("http://localhost/", "http://localhost:8080/", true), ("http://me.github.io/", "http://you.github.io/", false),
        ("http://github.io/", "http://github.io/", true), ("http://site.co.uk/", "http://other.co.uk/", false),
        ("http://a.site.co.uk/", "http://b.site.co.uk/", true),
        ("http://a.city.kawasaki.jp/", "http://city.kawasaki.jp/", true),
        ("http://a.b.kawasaki.jp/", "http://c.b.kawasaki.jp/", false),
    ])
    func sitesAreRegistrableDomains(address: String, document: String, isSame: Bool) throws {
        let context = CookieContext(mainDocument: try url(document))
        #expect(try #require(CookieRequest(try url(address), context, testSuffixes)).isSameSite == isSame)
    }

    // Section 7.2.
    @Test func acceptPolicies() throws {
        let (same, other) = (try url("http://a.site.example/"), try url("https://other.example/"))
        let address = "https://site.example/"
        for (policy, sameSite, otherSite, own) in [
            (CookieJar.AcceptPolicy.always, 1, 1, 2), (.onlyFromMainDocumentDomain, 1, 0, 2), (.never, 0, 0, 0),
        ] {
            let jar = makeJar(policy: policy)
            let fields = "a=1; SameSite=None; Secure"
            #expect(try jar.receive(fields, from: address, context: CookieContext(mainDocument: same)) == sameSite)
            jar.removeAll()
            #expect(try jar.receive(fields, from: address, context: CookieContext(mainDocument: other)) == otherSite)
            jar.removeAll()
            try jar.receive(fields, from: address)
            jar.set(try makeCookie("b"))
            #expect(jar.all.count == own, "\(policy)")
        }
    }
}
