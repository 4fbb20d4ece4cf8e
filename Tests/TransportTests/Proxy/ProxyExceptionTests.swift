import LinnetMessages
import Testing

@testable import LinnetTransport

/// The entries of `no_proxy`, by the rules of curl.
@Suite("Proxy exceptions", .timeLimit(.minutes(1)))
struct ProxyExceptionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let list: String
        /// The authority of an https origin.
        let authority: String
        let isDirect: Bool

        init(_ list: String, _ authority: String, _ isDirect: Bool) {
            (self.list, self.authority, self.isDirect) = (list, authority, isDirect)
        }

        var testDescription: String { "\"\(list)\" \(authority)" }
    }

    static let cases = [
        // Lists.
        Case("", "example.com", false), Case(" , ,", "example.com", false), Case("*", "example.com", true),
        Case("*", "192.0.2.1", true), Case(" *", "example.com", false), Case("* ", "example.com", false),
        Case("*,", "example.com", false), Case(" * ", "example.com", false), Case("*,a.test", "example.com", false),
        Case("*\t*", "example.com", false), Case("*, example.com", "example.com", true),
        Case("a.test,example.com", "example.com", true), Case("a.test, example.com", "example.com", true),
        Case("a.test,,example.com,", "example.com", true), Case("a.test\texample.com", "example.com", true),
        // Names.
        Case("example.com", "example.com", true), Case("example.com", "www.example.com", true),
        Case("example.com", "a.b.example.com", true), Case("example.com", "nonexample.com", false),
        Case("example.com", "example.com.evil.test", false), Case("example.com", "com", false),
        Case(".example.com", "example.com", true), Case(".example.com", "www.example.com", true),
        Case(".example.com", "nonexample.com", false), Case("..example.com", "example.com", false),
        Case("EXAMPLE.com", "example.COM", true), Case("example.com.", "example.com", true),
        Case("example.com", "example.com.", true), Case("www.example.com", "example.com", false),
        Case("localhost", "localhost", true), Case("localhost", "127.0.0.1", false), Case("com", "example.com", true),
        Case(".", "example.com", false), Case("*.example.com", "www.example.com", false),
        Case("example.com", "192.0.2.1", false), Case("http://example.com", "example.com", false),
        // IPv4.
        Case("192.0.2.1", "192.0.2.1", true), Case("192.0.2.1", "192.0.2.10", false),
        Case("192.0.2.1", "a.192.0.2.1.test", false), Case(".0.2.1", "192.0.2.1", false),
        Case("192.0.2.0/24", "192.0.2.255", true), Case("192.0.2.0/24", "192.0.3.0", false),
        Case("192.0.2.77/24", "192.0.2.1", true), Case("10.0.0.0/8", "10.255.0.1", true),
        Case("10.0.0.0/8", "11.0.0.1", false), Case("192.0.2.128/25", "192.0.2.127", false),
        Case("192.0.2.128/25", "192.0.2.129", true), Case("192.0.2.1/32", "192.0.2.1", true),
        Case("192.0.2.1/32", "192.0.2.2", false), Case("0.0.0.0/0", "192.0.2.2", false),
        Case("127.0.0.0/0", "127.0.0.1", false), Case("127.0.0.1/0", "127.0.0.1", true),
        Case("192.0.2.1.", "192.0.2.1", false), Case("192.0.2.0./24", "192.0.2.1", false),
        Case("192.0.2.1", "192.0.2.1.", true), Case("192.0.2.1.:443", "192.0.2.1", false),
        Case("  192.0.2.1  ", "192.0.2.1", true), Case("192.0.2.0/24 ,a.test", "192.0.2.1", true),
        Case("192.0.2.1/33", "192.0.2.1", false), Case("192.0.2.1/-1", "192.0.2.1", false),
        Case("192.0.2.1/", "192.0.2.1", false), Case("192.0.2.1/x", "192.0.2.1", false),
        Case("169.254/16", "169.254.0.1", false), Case("example.com/24", "example.com", false),
        // IPv6.
        Case("::1", "[::1]", true), Case("[::1]", "[::1]", true), Case("::1", "[::2]", false),
        Case("2001:DB8::1", "[2001:db8::1]", true), Case("2001:db8:0::1", "[2001:db8::1]", false),
        Case("0:0:0:0:0:0:0:1", "[::1]", false), Case("[0:0:0:0:0:0:0:1]", "[::1]", false),
        Case("0::1", "[::1]", false), Case("::1", "[0:0:0:0:0:0:0:1]", true), Case("::1.", "[::1]", false),
        Case("0:0:0:0:0:0:0:1:443", "[::1]", false), Case("::1/0", "[::1]", true), Case("::1/0", "[::2]", false),
        Case("2001:db8::/32", "[2001:db8:ffff::1]", true),
        Case("2001:db8::/32", "[2001:db9::1]", false), Case("2001:db8::/33", "[2001:db8:8000::1]", false),
        Case("2001:db8::/33", "[2001:db8:7fff::1]", true), Case("::/0", "[2001:db8::1]", false),
        Case("2001:db8:0:0::/32", "[2001:db8:ffff::1]", true), Case("::/0", "192.0.2.1", false),
        Case("0.0.0.0/0", "[::1]", false), Case("::1/129", "[::1]", false),
        // An IPv4-mapped address is another address. The origin of one is the IPv4 address.
        Case("::ffff:192.0.2.1", "192.0.2.1", false), Case("::ffff:192.0.2.0/120", "192.0.2.9", false),
        Case("::ffff:c000:201", "192.0.2.1", false), Case("::ffff:0:0/96", "192.0.2.1", false),
        Case("[::ffff:192.0.2.1]", "192.0.2.1", false), Case("192.0.2.1", "[::ffff:192.0.2.1]", true),
        Case("::ffff:192.0.2.1/95", "192.0.2.1", false),
        Case("::ffff:192.0.2.1/-9223372036854775808", "192.0.2.1", false),
        Case("::ffff:192.0.2.1/9223372036854775807", "192.0.2.1", false),
        // Ports.
        Case("example.com:8443", "example.com:8443", true), Case("example.com:8443", "example.com", false),
        Case("example.com:443", "example.com", true), Case(".example.com:443", "www.example.com", true),
        Case("192.0.2.1:8443", "192.0.2.1:8443", true), Case("192.0.2.1:8443", "192.0.2.1", false),
        Case("192.0.2.0/24:8443", "192.0.2.1:8443", true), Case("192.0.2.0/24:8443", "192.0.2.1", false),
        Case("[::1]:8443", "[::1]:8443", true),
        Case("[::1]:8443", "[::1]:444", false), Case("example.com:0", "example.com", false),
        Case("example.com:", "example.com", false), Case("example.com:x", "example.com", false),
        Case("example.com", "example.com:8443", true), Case("[::1", "[::1]", false), Case("[::1]x", "[::1]", false),
    ]

    @Test(arguments: cases)
    func anEntryMatchesLikeCurls(given: Case) throws {
        let origin = try Origin(isSecure: true, authority: given.authority)
        #expect(ProxyExceptions(list: given.list).contain(origin) == given.isDirect)
    }

    @Test func aLongListTakesLinearTime() throws {
        let list = (0..<20_000).map { "host-\($0).example" }.joined(separator: ",")
        let exceptions = ProxyExceptions(list: list)
        #expect(exceptions.contain(try Origin(isSecure: false, authority: "a.host-19999.example")))
        #expect(!exceptions.contain(try Origin(isSecure: false, authority: "other.example")))
    }
}
