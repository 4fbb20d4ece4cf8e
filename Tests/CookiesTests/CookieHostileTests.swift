import CommandSupport
import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCookies

@Suite("Hostile cookies", .timeLimit(.minutes(5)))
struct CookieHostileTests {
    @Test func tenThousandFieldsLeaveFiftyCookies() throws {
        let jar = makeJar()
        let changes = jar.changes
        let stored = jar.store(
            setCookieFields: fields((0..<10_000).map { "c\($0)=\(String(repeating: "v", count: 1000))" }),
            of: try url("https://site.example/"))
        #expect(stored.count == 10_000)
        #expect(jar.all.map(\.name) == (9950..<10_000).map { "c\($0)" })
        #expect(changes.droppedCount == 10_000 + 9950 - 1000)
    }

    @Test func aHostOfManyLabelsFillsTheJarAndNoMore() throws {
        let jar = makeJar()
        let host = (0..<120).map { _ in "a" }.joined(separator: ".") + ".site.example"
        let labels = host.split(separator: ".")
        for index in 0..<3300 {
            let domain = labels.dropFirst(index % 120).joined(separator: ".")
            try jar.receive("c\(index)=1; Domain=\(domain)", from: "https://\(host)/")
        }
        #expect(jar.all.count == 3000)
        #expect(jar.cookies(for: try url("https://\(host)/")).count == 3000)
    }

    @Test func valuesOfAMegabyteAreIgnored() throws {
        let jar = makeJar()
        let long = String(repeating: "x", count: isSanitized ? 1 << 17 : 1 << 20)
        let received = [
            "a=\(long)", "\(long)=a", long, "b=1; \(long)", "c=1; Path=/\(long)", "d=1; Domain=\(long)",
            "e=1; \(long)=\(long)",
            "f=1; Expires=\(long)", "g=1; Max-Age=\(String(repeating: "9", count: 1 << 20))",
            "h=1" + String(repeating: ";", count: 1 << 20),
        ]
        jar.store(setCookieFields: fields(received), of: try url("https://site.example/"))
        #expect(jar.all.map(\.name) == ["b", "c", "d", "e", "f", "g", "h"])
        #expect(jar.all.allSatisfy { $0.path == "/" && $0.expires == nil && $0.isHostOnly })
    }

    @Test func randomFieldsKeepTheRules() throws {
        var random = SplitMix(seed: RandomSeed.next())
        let pieces: [[UInt8]] = [
            "a", "=", ";", " ", "\t", "\"", "__Host-", "__SECURE-", "Path=/", "Path", "Domain=", "site.example", ".",
            "Secure", "HttpOnly",
            "SameSite=", "None", "Lax", "Max-Age=", "-1", "99", "Expires=", "06 Nov 2024 08:49:37", ",", "é",
        ].map { Array($0.utf8) }
        let jar = makeJar()
        let addresses = try ["b/c", "b;v=1/c", "b/c?d=/e;f"].map { try url("https://a.site.example/" + $0) }
        for _ in 0..<5000 {
            var field: [UInt8] = []
            for _ in 0..<Int.random(in: 0...14, using: &random) {
                field +=
                    Int.random(in: 0..<20, using: &random) == 0
                    ? [UInt8.random(in: 0...255, using: &random)] : pieces.randomElement(using: &random) ?? []
            }
            var received = HTTPFields()
            received.append(HTTPField(name: .setCookie, lenientValue: field))
            for address in addresses {
                for cookie in jar.store(setCookieFields: received, of: address) { try check(cookie, field) }
            }
            #expect(jar.all.count <= 100)
        }
    }

    private func check(_ cookie: StoredCookie, _ field: [UInt8]) throws {
        let text = String(decoding: field, as: UTF8.self)
        // The program can make each cookie that a server sets, except for octets that are not UTF-8.
        #expect(throws: Never.self, "\(text)") { try cookie.validate() }
        #expect(CookieMatching.domain("a.site.example", matches: cookie.domain), "\(text)")
        #expect(
            cookie.domain != "example" && (cookie.expires ?? testTime) <= testTime.addingTimeInterval(34_560_000),
            "\(text)")
        #expect(try JSONDecoder().decode(StoredCookie.self, from: JSONEncoder().encode(cookie)) == cookie, "\(text)")
        let file = NetscapeCookies([cookie])
        let parsed = NetscapeCookies(parsing: file.data, now: testTime).cookies
        #expect(parsed.count + file.omittedCookies.count == 1, "\(text)")
        if let copy = parsed.first {
            #expect(copy.key == cookie.key && copy.valueBytes == cookie.valueBytes, "\(text)")
        }
    }

    /// A default path comes from the URL of the request.
    @Test func defaultPathsAreReadBackOrRefused() throws {
        let jar = makeJar()
        let received: HTTPFields = [.setCookie: "a=1; Max-Age=100"]
        let semicolon = try url("https://site.example/app;v=1/login")
        #expect(jar.store(setCookieFields: received, of: semicolon).map(\.path) == ["/app;v=1"])
        let long = try url("https://site.example/" + String(repeating: "x", count: 1024) + "/login")
        #expect(jar.store(setCookieFields: received, of: long).isEmpty)
        for cookie in jar.all {
            #expect(try JSONDecoder().decode(StoredCookie.self, from: JSONEncoder().encode(cookie)) == cookie)
        }
        #expect(jar.cookies(for: semicolon).map(\.value) == ["1"])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let count: Int
        let make: @Sendable (Int) -> [UInt8]

        init(_ name: String, _ count: Int, _ make: @escaping @Sendable (Int) -> String) {
            (testDescription, self.count) = (name, count)
            self.make = { Array(make($0).utf8) }
        }
    }

    private static func repeated(_ text: String, before: String = "a=b") -> @Sendable (Int) -> String {
        { before + String(repeating: text, count: $0) }
    }

    @Test(arguments: [
        Case("attributes", 10_000, repeated("; a=b")), Case("paths", 10_000, repeated("; Path=/a")),
        Case("domains", 10_000, repeated("; Domain=.a")),
        Case("dates", 2000, repeated("; Expires=06 Nov 1994 08:49:37")),
        Case("tokens of dates", 50_000, repeated("1 ", before: "a=b; Expires=")),
        Case("semicolons", 50_000, repeated(";")),
        Case("equals signs", 50_000, repeated("=")), Case("space", 50_000, repeated(" ")),
        Case("tabs in a name", 50_000, repeated("\t", before: "a")),
        Case("space around a name", 50_000) {
            String(repeating: " ", count: $0) + "a" + String(repeating: " ", count: $0)
        },
        Case("digits of an age", 50_000, repeated("9", before: "a=b; Max-Age=")),
        Case("a name", 50_000, repeated("a", before: "")),
    ])
    func fieldsAreReadInLinearTime(_ it: Case) {
        #expect(growth(from: it.count, it.make) { _ = try? SetCookie(parsing: $0) } <= 2.5)
    }

    @Test func storingAndSendingTakeLinearTime() throws {
        let address = try url("https://a.site.example/")
        let received = { (count: Int) in
            fields((0..<count).map { "c\($0)=v; Max-Age=100; Domain=\($0 % 2 == 0 ? "site" : "a.site").example" })
        }
        #expect(growth(from: 500, upTo: 30_000, received) { makeJar().store(setCookieFields: $0, of: address) } <= 2.5)
        // One response over an insecure connection. Each of its cookies is compared with secure ones.
        let insecure = try url("http://a.site.example/")
        #expect(
            growth(from: 500, upTo: 30_000, received) { fields in
                let jar = makeJar()
                _ = try? jar.receive("s=1; Secure; Domain=site.example", from: "https://a.site.example/")
                jar.store(setCookieFields: fields, of: insecure)
            } <= 2.5)
    }

    @Test func filesAndListsAreReadInLinearTime() {
        let lines = { (count: Int) in
            Data((0..<count).map { "site\($0).example\tFALSE\t/\tFALSE\t4000000000\ta\tb\n" }.joined().utf8)
        }
        #expect(growth(from: 500, lines) { _ = NetscapeCookies(parsing: $0) } <= 2.5)
        #expect(growth(from: 10_000, { Data(repeating: 0x09, count: $0) }) { _ = NetscapeCookies(parsing: $0) } <= 2.5)
        let rules = { (count: Int) in (0..<count).map { "*.a\($0).example\n" }.joined() }
        #expect(growth(from: 1000, rules) { _ = PublicSuffixList(parsing: $0) } <= 2.5)
        let label = { (count: Int) in String(repeating: "é", count: count) + "\n" }
        #expect(growth(from: 20_000, label) { _ = PublicSuffixList(parsing: $0) } <= 2.5)
    }
}
