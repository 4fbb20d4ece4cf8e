import FoundationEssentials
import Testing

@testable import LinnetCookies

/// RFC 6265bis, section 5.6: the parser, before any rule of storing.
@Suite("Set-Cookie", .timeLimit(.minutes(1)))
struct SetCookieTests {
    private func parse(_ text: String) throws -> SetCookie { try SetCookie(parsing: Array(text.utf8)) }

    @Test(arguments: [
        // Steps 2 to 4.
        ("a=b", "a", "b"), ("a=b;", "a", "b"), ("a=b; Secure", "a", "b"), (" a = b ", "a", "b"),
        ("\ta\t=\tb\t", "a", "b"),
        ("a=", "a", ""), ("=b", "", "b"), ("=", "", ""), ("b", "", "b"), (" b ", "", "b"), ("", "", ""), (";", "", ""),
        ("; Secure", "", ""), ("a=b=c", "a", "b=c"), ("a==b", "a", "=b"), ("==", "", "="), ("a b=c d", "a b", "c d"),
        ("a=b\tc", "a", "b\tc"), ("a=\"b;c\"", "a", "\"b"), ("a=\"b\"", "a", "\"b\""), ("a=b,c=d", "a", "b,c=d"),
        ("a=%3B%00", "a", "%3B%00"), ("é=ü", "é", "ü"), ("a=b;c=d", "a", "b"), ("$Version=1", "$Version", "1"),
    ])
    func namesAndValuesAreSplitAtTheFirstEqualsSign(field: String, name: String, value: String) throws {
        let cookie = try parse(field)
        #expect(cookie.name.text == name)
        #expect(cookie.value.text == value)
    }

    @Test func controlCharactersAnywhereRefuseTheField() throws {
        for byte in UInt8.min...UInt8.max {
            for bytes in [[0x61, byte, 0x3D, 0x62], [0x61, 0x3D, byte, 0x62], Array("a=b; x=".utf8) + [byte, 0x78]]
                as [[UInt8]]
            {
                let isRefused = (try? SetCookie(parsing: bytes)) == nil
                #expect(isRefused == (byte < 0x09 || 0x0A...0x1F ~= byte || byte == 0x7F), "\(byte)")
            }
        }
    }

    @Test(arguments: [(4096, true), (4097, false)])
    func nameAndValueHaveAtMost4096Octets(length: Int, isValid: Bool) {
        for name in [0, 1, 2000, length] {
            let field = String(repeating: "n", count: name) + "=" + String(repeating: "v", count: length - name)
            #expect(((try? parse(field)) != nil) == isValid)
            // Space around them does not count, since it is removed first.
            #expect(((try? parse("   \(field)   ")) != nil) == isValid)
        }
        let octets = String(repeating: "é", count: length / 2) + (length % 2 == 0 ? "" : "e")
        #expect(((try? parse(octets)) != nil) == isValid)
    }

    // Section 5.6.2.
    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("-1", -1), ("-0", 0), ("007", 7), ("99999999999999999999", Int64.max),
            ("-99999999999999999999", Int64.min), ("9223372036854775807", Int64.max), ("", nil), ("+1", nil),
            ("1.5", nil),
            ("1 2", nil), ("-", nil), ("--1", nil), ("0x10", nil), ("\"1\"", nil), ("1e3", nil), ("١", nil),
        ] as [(String, Int64?)])
    func maximumAgesAreWholeNumbers(text: String, expected: Int64?) throws {
        #expect(try parse("a=b; Max-Age=\(text)").maximumAge == expected)
        // The last valid attribute counts.
        #expect(try parse("a=b; Max-Age=5; Max-Age=\(text)").maximumAge == expected ?? 5)
    }

    // Section 5.6.1.
    @Test func theLastValidDateOfExpiryCounts() throws {
        let field = "a=b; expires=06 Nov 1994 08:49:37; EXPIRES=nonsense; Expires=07 Nov 1994 08:49:37; expires="
        #expect(try parse(field).expires?.timeIntervalSince1970 == 784_198_177)
        #expect(try parse("a=b; Expires").expires == nil)
    }

    // Section 5.6.3.
    @Test(
        arguments: [
            ("Domain=site.example", "site.example"), ("domain=.site.example", "site.example"),
            ("DOMAIN=SITE.Example", "site.example"),
            ("Domain=..site.example", ".site.example"), ("Domain=", ""), ("Domain", ""), ("Domain=.", ""),
            ("Domain= a ", "a"),
            ("Domain=a; Domain=b", "b"), ("Domain=a; Domain=", ""), ("x=y", nil),
        ] as [(String, String?)])
    func domainsLoseOneLeadingDot(attribute: String, expected: String?) throws {
        #expect(try parse("a=b; \(attribute)").domain?.text == expected)
    }

    // Section 5.6.4.
    @Test(
        arguments: [
            ("Path=/a", "/a"), ("PATH = /a ", "/a"), ("Path=/a;Path=/b", "/b"), ("Path=", nil), ("Path", nil),
            ("Path=a", nil),
            ("Path=/a;Path=b", nil), ("Path=/a;Path=", nil), ("Path=\"/a\"", nil), ("Path=/a//b/", "/a//b/"),
        ] as [(String, String?)])
    func pathsBeginWithASlash(attribute: String, expected: String?) throws {
        let cookie = try parse("a=b; \(attribute)")
        #expect(cookie.hasPath)
        #expect(cookie.path?.text == expected)
    }

    // Sections 5.6.5 and 5.6.6.
    @Test(arguments: [
        "Secure; HttpOnly", "secure=;httponly=", "SECURE=false;HTTPONLY=0", " secure ; x ; httpOnly=x=y;",
    ])
    func flagsHaveNoValue(attributes: String) throws {
        let cookie = try parse("a=b; \(attributes)")
        #expect(cookie.isSecure && cookie.isHTTPOnly)
    }

    @Test(arguments: [
        "Secur; HttpOnl", "Secure2; HttpOnly2", "\"Secure\"; \"HttpOnly\"", "S ecure; Http Only", "Sécure",
    ])
    func otherAttributesAreIgnored(attributes: String) throws {
        let cookie = try parse("a=b; \(attributes)")
        #expect(!cookie.isSecure && !cookie.isHTTPOnly)
    }

    // Section 5.6.7.
    @Test(
        arguments: [
            ("SameSite=Lax", .lax), ("samesite=STRICT", .strict), ("SameSite=None", .none), ("SameSite", .default),
            ("SameSite=", .default), ("SameSite=Default", .default), ("SameSite=xyz", .default),
            ("SameSite=Lax;SameSite=x", .default),
            ("SameSite=Lax;SameSite=Strict", .strict),
        ] as [(String, StoredCookie.SameSite)])
    func unknownValuesOfSameSiteAreTheDefault(attribute: String, expected: StoredCookie.SameSite) throws {
        #expect(try parse("a=b; \(attribute)").sameSite == expected)
    }

    // Section 5.6, attributes, step 6.
    @Test func attributesOfMoreThan1024OctetsAreIgnored() throws {
        let long = String(repeating: "x", count: 1023)
        #expect(try parse("a=b; Path=/\(long)").path?.count == 1024)
        #expect(try parse("a=b; Path=/\(long)x").hasPath == false)
        #expect(try parse("a=b; Path=/p; Path=/\(long)x").path?.text == "/p")
        #expect(try parse("a=b; Domain=d; Domain=\(long)xx").domain?.text == "d")
        #expect(try parse("a=b; Secure=\(long)xx").isSecure == false)
    }
}
