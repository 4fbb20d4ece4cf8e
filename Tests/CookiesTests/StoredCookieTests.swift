import FoundationEssentials
import Testing

@testable import LinnetCookies

@Suite("Stored cookies", .timeLimit(.minutes(1)))
struct StoredCookieTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable () throws -> StoredCookie

        init(_ name: String, _ make: @escaping @Sendable () throws -> StoredCookie) {
            (testDescription, self.make) = (name, make)
        }
    }

    @Test(arguments: [
        Case("5.7.2 nothing") { try makeCookie("", "") },
        Case("5.7.3 a line break in the value") { try makeCookie("a", "b\r\nSet-Cookie: c=d") },
        Case("5.7.3 NUL in the name") { try makeCookie("a\0", "b") },
        Case("5.7.4 too long") { try makeCookie("a", String(repeating: "b", count: 4096)) },
        Case("a semicolon in the value") { try makeCookie("a", "b; c=d") },
        Case("a semicolon in the name") { try makeCookie("a;b", "c") },
        Case("an equals sign in the name") { try makeCookie("a=b", "c") },
        Case("a space at the end of the value") { try makeCookie("a", "b ") },
        Case("a tab at the beginning of the name") { try makeCookie("\ta", "b") },
        Case("a relative path") { try makeCookie("a", path: "b") },
        Case("an empty path") { try makeCookie("a", path: "") },
        Case("a path with a semicolon") { try makeCookie("a", path: "/;") },
        Case("a path with a line break") { try makeCookie("a", path: "/\n") },
        Case("a path that is too long") { try makeCookie("a", path: "/" + String(repeating: "b", count: 1024)) },
        Case("an expiry that is no date") { try makeCookie("a", lifetime: .nan) },
        Case("an infinite expiry") { try makeCookie("a", lifetime: .infinity) },
        Case("a creation that is no date") { try makeCookie("a", created: Date(timeIntervalSince1970: .nan)) },
        Case("no domain") { try makeCookie("a", domain: "") },
        Case("a domain with a leading dot") { try makeCookie("a", domain: ".site.example") },
        Case("a domain beyond ASCII") { try makeCookie("a", domain: "síte.example") },
        Case("a domain with a port") { try makeCookie("a", domain: "site.example:80") },
        Case("5.7.19 SameSite=None") {
            try StoredCookie(name: "a", value: "b", domain: "site.example", sameSite: .none)
        },
        Case("5.7.20 __Secure-") { try makeCookie("__secure-a") },
        Case("5.7.21 __Host- and insecure") { try makeCookie("__Host-a") },
        Case("5.7.21 __Host- and subdomains") { try makeCookie("__Host-a", isHostOnly: false, isSecure: true) },
        Case("5.7.21 __Host- and a path") { try makeCookie("__Host-a", path: "/a", isSecure: true) },
        Case("5.7.22 a nameless prefix") { try makeCookie("", "__Host-a", isSecure: true) },
    ])
    func invalidCookiesAreTypedErrors(_ it: Case) throws {
        let error = #expect(throws: CookieError.self) { _ = try it.make() }
        #expect(error?.code == .invalidCookie)
        #expect(error?.message.isEmpty == false)
    }

    @Test func thePathHasAtMost1024Bytes() throws {
        let path = "/" + String(repeating: "b", count: 1023)
        #expect(try makeCookie("a", path: path).path == path)
    }

    @Test func propertiesAreCanonical() throws {
        let cookie = try StoredCookie(name: "a", value: "b=c", domain: "Site.EXAMPLE.", isHostOnly: false)
        #expect(cookie.domain == "site.example")
        #expect(cookie.path == "/" && !cookie.isPersistent && cookie.sameSite == .default && !cookie.isHostOnly)
        // An address has no subdomains.
        #expect(try makeCookie("a", domain: "0:0:0:0:0:0:0:1", isHostOnly: false).isHostOnly)
        #expect(try makeCookie("a", domain: "0:0:0:0:0:0:0:1").domain == "::1")
    }

    @Test func descriptionsDoNotShowTheValue() throws {
        let cookie = try makeCookie("name\u{200B}", "s3cret", isHostOnly: false)
        var dumped = ""
        dump(cookie, to: &dumped)
        dump(CookieJar.Change(.stored, cookie), to: &dumped)
        for text in ["\(cookie)", String(reflecting: cookie), "\([cookie])", dumped] {
            #expect(!text.contains("s3cret") && text.contains("site.example"), "\(text)")
        }
        #expect("\(cookie)" == "name\\u{200b}=<redacted>; .site.example/")
    }

    @Test func codingKeepsAllProperties() throws {
        let cookies = [
            try StoredCookie(
                name: "__Secure-é", value: "\"✓\" \\", domain: "site.example", path: "/a b", isHostOnly: false,
                expires: Date(timeIntervalSince1970: 1_700_000_000.123), isSecure: true, isHTTPOnly: true,
                sameSite: .none,
                creationDate: Date(timeIntervalSince1970: 1_600_000_000.456)),
            try StoredCookie(name: "", value: "v", domain: "::1", sameSite: .strict, creationDate: testTime),
        ]
        let decoded = try JSONDecoder().decode([StoredCookie].self, from: JSONEncoder().encode(cookies))
        #expect(decoded == cookies)
    }

    @Test(arguments: [
        #""name":"a""#: #""name":"a;b""#, #""value":"v""#: #""value":"v\r\n""#, #""path":"\/""#: #""path":"x""#,
        #""domain":"site.example""#: #""domain":".""#, #""sameSite":"default""#: #""sameSite":"none""#,
        #""isSecure":false"#: #""isSecure":"no""#, #""creationDate""#: #""created""#,
    ])
    func invalidCookiesAreNotDecoded(valid: String, invalid: String) throws {
        let encoded = String(decoding: try JSONEncoder().encode(makeCookie("a")), as: UTF8.self)
        let changed = encoded.replacing(valid, with: invalid)
        #expect(changed != encoded)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(StoredCookie.self, from: Data(changed.utf8)) }
    }
}
