import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCookies

/// The Set-Cookie fields of servers and the resulting Cookie fields: the kinds of cases in the public http-state tests.
@Suite("Cookie state", .timeLimit(.minutes(1)))
struct CookieStateTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let received: [String]
        let expected: String

        init(_ name: String, _ received: String..., sends expected: String) {
            (testDescription, self.received, self.expected) = (name, received, expected)
        }
    }

    @Test(arguments: [
        // Names and values.
        Case("5.6.3 a pair", "foo=bar", sends: "foo=bar"),
        Case("5.6.2 attributes that are unknown", "foo=bar; x=y; HttpOnly ;z", sends: "foo=bar"),
        Case("5.6.3 a value without a name", "bar", sends: "bar"),
        Case("5.6.3 an empty name", "=bar", sends: "bar"),
        Case("5.6.3 an empty name with equals signs", "==bar", sends: "=bar"),
        Case("5.6.3 an empty value", "foo=", sends: "foo="),
        Case("5.7.2 neither name nor value", "=", "", ";", " = ;Path=/", "; foo=bar", sends: ""),
        Case("5.6.4 space around name and value", "  foo \t=\t bar  ; x", sends: "foo=bar"),
        Case("5.6.4 space inside name and value", "f oo=b ar", sends: "f oo=b ar"),
        Case("5.6.3 an equals sign in the value", "foo=bar=baz", sends: "foo=bar=baz"),
        Case("5.6.3 quotes belong to the value", "foo=\"bar\"", sends: "foo=\"bar\""),
        Case("5.6.2 a quoted semicolon ends the value", "foo=\"b;ar\"", sends: "foo=\"b"),
        Case("5.6.3 one quote", "foo=\"bar", sends: "foo=\"bar"),
        Case("5.6.3 escapes are kept", "foo=b\\\"ar", sends: "foo=b\\\"ar"),
        Case("5.6 percent signs are kept", "foo=%62%61r", sends: "foo=%62%61r"),
        Case("5.6 a comma separates nothing", "foo=bar, baz=qux", sends: "foo=bar, baz=qux"),
        Case("5.6 UTF-8", "föö=bär✓", sends: "föö=bär✓"),
        Case("4.1.3 a dollar sign", "$foo=bar; $Path=/x", sends: "$foo=bar"),
        Case(
            "5.6 an attribute's name as the cookie's", "Path=/x", "Secure=1", "expires=0",
            sends: "Path=/x; Secure=1; expires=0"),
        Case("5.6 no control but a tab", "foo=b\tar", sends: "foo=b\tar"),
        Case(
            "5.6.1 a control character", "foo=b\u{01}ar", "foo=b\u{7F}", "\u{02}foo=bar", "foo=bar; x=\u{1B}", sends: ""
        ),
        Case(
            "5.6.5 the largest pair", "a=\(String(repeating: "x", count: 4095))",
            sends: "a=\(String(repeating: "x", count: 4095))"),
        Case("5.6.5 a pair that is too large", "a=1", "a=\(String(repeating: "x", count: 4096))", sends: "a=1"),

        // Identity and order.
        Case("5.7.23 the same name replaces", "foo=1", "foo=2", sends: "foo=2"),
        Case("5.7.23 names are compared with case", "foo=1", "Foo=2", sends: "foo=1; Foo=2"),
        Case("5.7.23 names are compared by octets", "e\u{301}=1", "é=2", sends: "e\u{301}=1; é=2"),
        Case("5.7.23 an update keeps the place", "a=1", "b=2", "a=3", sends: "a=3; b=2"),
        Case("5.7.23 another path is another cookie", "a=1; path=/", "a=2; path=/dir", sends: "a=2; a=1"),
        Case("5.7.23 another domain is another cookie", "a=1", "a=2; domain=site.example", sends: "a=1; a=2"),
        Case("5.7.23 a domain and its host alone are two", "a=1", "a=2; domain=host.site.example", sends: "a=1; a=2"),
        Case("5.8.3.4 longer paths first", "a=1; path=/", "b=2; path=/dir/", "c=3; path=/dir", sends: "b=2; c=3; a=1"),
        Case("5.8.3.4 then older cookies", "c=1", "a=2", "b=3", sends: "c=1; a=2; b=3"),
        Case("5.8.3.6 no separators at the ends", "a=1", "=2", "c=", sends: "a=1; 2; c="),

        // Attributes: order, case, space.
        Case("5.6 attributes in any order", "a=1; secure; path=/dir; httponly; domain=site.example", sends: "a=1"),
        Case("5.6 attributes in any case", "a=1; PATH=/other", "b=2; pAtH=/dir", sends: "b=2"),
        Case("5.6 space around attributes", "a=1 ;\tpath\t=\t/dir\t;  secure", sends: "a=1"),
        Case("5.6 empty attributes", "a=1;;;; path=/dir;;", sends: "a=1"),
        Case("5.6.4 the last path counts", "a=1; path=/other; path=/dir", "b=2; path=/dir; path=/other", sends: "a=1"),
        Case("5.6.3 the last domain counts", "a=1; domain=org; domain=site.example", sends: "a=1"),
        Case("5.6.3 an empty last domain is none", "a=1; domain=com; domain=", sends: "a=1"),
        Case("5.6.3 a domain in quotes", "a=1; domain=\"site.example\"", sends: ""),
        Case("5.6.4 a path in quotes is the default", "a=1; path=\"/other\"", sends: "a=1"),

        // Expiry.
        Case("5.6.2 a maximum age", "a=1; max-age=100", sends: "a=1"),
        Case("5.6.2 zero removes", "a=1", "a=2; max-age=0", sends: ""),
        Case("5.6.2 a negative age removes", "a=1", "a=2; max-age=-1", sends: ""),
        Case("5.6.1 a date that is past removes", "a=1", "a=2; expires=Thu, 10 Apr 1980 16:33:12 GMT", sends: ""),
        Case("5.6.1 a date to come", "a=1; expires=Wed, 10 Jan 2024 16:33:12 GMT", sends: "a=1"),
        Case("5.6.1 no date", "a=1; expires=never", sends: "a=1"),
        Case("5.7.6 the age before the date", "a=1; max-age=100; expires=Thu, 10 Apr 1980 16:33:12 GMT", sends: "a=1"),
        Case("5.7.6 also if it is first", "a=1; expires=Wed, 10 Jan 2024 16:33:12 GMT; max-age=0", sends: ""),
        Case("5.7.6 an invalid age is none", "a=1; max-age=x; expires=Thu, 10 Apr 1980 16:33:12 GMT", sends: ""),
        Case("5.7 removing another path removes nothing", "a=1; path=/", "a=; path=/dir; max-age=0", sends: "a=1"),
        Case("5.7 removing the domain's leaves the host's", "a=1", "a=; domain=site.example; max-age=0", sends: "a=1"),
    ])
    func serversGetBackWhatTheySet(_ it: Case) throws {
        let jar = makeJar()
        for field in it.received { try jar.receive(field, from: "https://host.site.example/dir/page?query=/x") }
        #expect(try jar.string(for: "https://host.site.example/dir/other") == it.expected)
        // The same in one response.
        let other = makeJar()
        other.store(setCookieFields: fields(it.received), of: try url("https://host.site.example/dir/page"))
        #expect(try other.string(for: "https://host.site.example/dir/other") == it.expected)
    }

    // Section 5.8.3, step 6: octets that are not UTF-8 come back as they are.
    @Test func octetsComeBackUnchanged() throws {
        let octets: [UInt8] = Array((0x80...0xFF) as ClosedRange<UInt8>)
        let jar = makeJar()
        var received = fields([])
        received.append(.init(name: .setCookie, lenientValue: octets + [0x3D] + octets + Array("; Path=/".utf8)))
        let address = try url("https://site.example/")
        jar.store(setCookieFields: received, of: address)
        #expect(jar.cookieHeader(for: address)?.withUnsafeBytesOfValue { Array($0) } == octets + [0x3D] + octets)
        let copy = try JSONDecoder().decode([StoredCookie].self, from: JSONEncoder().encode(jar.all))
        #expect(copy == jar.all)
    }
}
