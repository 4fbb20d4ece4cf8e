import CommandSupport
import FoundationEssentials
import Testing

@testable import LinnetCookies

@Suite("cookies.txt", .timeLimit(.minutes(2)))
struct NetscapeCookiesTests {
    private static func isInstalled(_ command: String) -> Bool {
        (try? Command.run([command, "--version"]) as Command)?.status == 0
    }
    private static let hasPython = isInstalled("python3")
    private static let hasCurl = isInstalled("curl")

    /// One line of each kind in the format.
    private static func cookies() throws -> [StoredCookie] {
        let later = Date(timeIntervalSince1970: 4_000_000_000)
        return [
            try StoredCookie(name: "host", value: "1", domain: "site.example", expires: later, creationDate: testTime),
            try StoredCookie(
                name: "domain", value: "a=b \"c\"", domain: "site.example", path: "/p/", isHostOnly: false,
                expires: later,
                isSecure: true, creationDate: testTime),
            try StoredCookie(name: "session", value: "2", domain: "site.example", creationDate: testTime),
            try StoredCookie(
                name: "script", value: "3", domain: "a.site.example", expires: later, isHTTPOnly: true,
                creationDate: testTime),
            try StoredCookie(
                name: "__Host-id", value: "✓", domain: "site.example", expires: later, isSecure: true,
                creationDate: testTime),
            try StoredCookie(
                name: "empty", value: "", domain: "10.0.0.1", path: "/é", expires: later, creationDate: testTime),
        ]
    }

    @Test func linesHaveSevenFields() throws {
        let text = String(decoding: NetscapeCookies(try Self.cookies()).data, as: UTF8.self)
        #expect(
            text == """
                # Netscape HTTP Cookie File
                site.example\tFALSE\t/\tFALSE\t4000000000\thost\t1
                .site.example\tTRUE\t/p/\tTRUE\t4000000000\tdomain\ta=b "c"
                site.example\tFALSE\t/\tFALSE\t0\tsession\t2
                #HttpOnly_a.site.example\tFALSE\t/\tFALSE\t4000000000\tscript\t3
                site.example\tFALSE\t/\tTRUE\t4000000000\t__Host-id\t✓
                10.0.0.1\tFALSE\t/é\tFALSE\t4000000000\tempty\t

                """)
        let parsed = NetscapeCookies(parsing: Data(text.utf8), now: testTime)
        #expect(try parsed.cookies == Self.cookies())
        #expect(parsed.malformedLines == [])
    }

    @Test func commentsEmptyLinesAndOtherEndingsAreRead() {
        let text =
            "\n# comment\r\n\t \n#HttpOnly_site.example\tFALSE\t/\tFALSE\t0\ta\t1\r\nSITE.example\ttrue\t/\ttrue\t\tb\t2"
        let parsed = NetscapeCookies(parsing: Data(text.utf8), now: testTime)
        #expect(parsed.cookies.map(\.name) == ["a", "b"])
        #expect(parsed.cookies.map(\.isHTTPOnly) == [true, false])
        #expect(parsed.cookies.map(\.isHostOnly) == [true, false])
        #expect(parsed.cookies.map(\.isSecure) == [false, true])
        #expect(parsed.malformedLines == [])
    }

    @Test func emptyLinesCountInTheNumbersOfLines() {
        #expect(NetscapeCookies(parsing: Data("\n\nmalformed\n\n\nmalformed".utf8)).malformedLines == [3, 6])
    }

    @Test(arguments: [(20, true), (21, false)])
    func timesHaveAtMost20Characters(count: Int, isRead: Bool) {
        let time = String(repeating: "0", count: count - 10) + "4000000000"
        let parsed = NetscapeCookies(parsing: Data("site.example\tFALSE\t/\tFALSE\t\(time)\ta\t1".utf8))
        #expect(parsed.cookies.map(\.expires?.timeIntervalSince1970) == (isRead ? [4_000_000_000] : []))
    }

    @Test(arguments: [
        "site.example", "site.example\tFALSE\t/\tFALSE\t0\ta", "site.example\tFALSE\t/\tFALSE\t0\ta\t1\t2",
        "site.example\tMAYBE\t/\tFALSE\t0\ta\t1", "site.example\tFALSE\t/\t\t0\ta\t1",
        "site.example\tFALSE\tp\tFALSE\t0\ta\t1",
        "site.example\tFALSE\t/\tFALSE\tsoon\ta\t1", "site.example\tFALSE\t/\tFALSE\t1.5\ta\t1",
        "site.example\tFALSE\t/\tFALSE\t99999999999999999999\ta\t1", "..site.example\tTRUE\t/\tFALSE\t0\ta\t1",
        "\tFALSE\t/\tFALSE\t0\ta\t1", "site.example\tFALSE\t/\tFALSE\t0\t\t",
        "site.example\tFALSE\t/\tFALSE\t0\t__Host-a\t1",
        "site.example\tFALSE\t/\tFALSE\t0\ta\tb;c", "site.example\tFALSE\t/\tFALSE\t0\ta\t\u{01}",
        "síte.example\tFALSE\t/\tFALSE\t0\ta\t1",
    ])
    func malformedLinesAreCounted(line: String) {
        let parsed = NetscapeCookies(
            parsing: Data("# Netscape HTTP Cookie File\n\(line)\nsite.example\tFALSE\t/\tFALSE\t0\tz\t1\n".utf8))
        #expect(parsed.malformedLines == [2])
        #expect(parsed.cookies.map(\.name) == ["z"])
    }

    @Test func cookiesWithTabsAreOmitted() throws {
        let jar = makeJar()
        try jar.receive("a\tb=1", "c=d\te", "f=g; Path=/\t/", "h=1", from: "https://site.example/")
        let file = NetscapeCookies(jar.all)
        #expect(file.omittedCookies.map(\.name) == ["a\tb", "c", "f"])
        #expect(NetscapeCookies(parsing: file.data).cookies.map(\.name) == ["h"])
    }

    @Test(
        arguments: [
            (Date.distantPast.timeIntervalSince1970, -62_135_596_800),
            (Date.distantFuture.timeIntervalSince1970, 64_092_211_200),
            (0, -1), (0.5, -1), (-0.5, -1), (1.9, 1), (1e300, 253_402_300_799), (-1e300, -62_135_596_800),
        ] as [(Double, Double)])
    func datesAreWholeSecondsAndNever0(expires: Double, expected: Double) throws {
        let cookie = try StoredCookie(
            name: "a", value: "1", domain: "site.example", expires: Date(timeIntervalSince1970: expires))
        let parsed = NetscapeCookies(parsing: NetscapeCookies([cookie]).data)
        #expect(parsed.cookies.first?.expires?.timeIntervalSince1970 == expected)
    }

    @Test(.enabled(if: hasPython, "python3 is not installed"))
    func pythonReadsAndWritesTheSame() async throws {
        try await withFolder { folder in
            let (ours, theirs) = (folder.appending(path: "ours.txt"), folder.appending(path: "theirs.txt"))
            try NetscapeCookies(try Self.cookies()).data.write(to: ours)
            let script = """
                import http.cookiejar, sys
                jar = http.cookiejar.MozillaCookieJar()
                jar.load(sys.argv[1], ignore_discard=True, ignore_expires=True)
                jar.save(sys.argv[2], ignore_discard=True, ignore_expires=True)
                for c in jar:
                    http_only = c.has_nonstandard_attr('HttpOnly') or c.has_nonstandard_attr('HTTPOnly')
                    print(c.domain, c.path, c.secure, c.expires, c.name, repr(c.value), http_only)
                """
            let result = try await Command.run(["python3", "-X", "utf8", "-c", script, ours.path, theirs.path])
            #expect(result.status == 0, "\(result.errors)")
            #expect(
                Set(result.text.split(separator: "\n")) == [
                    "site.example / False 4000000000 host '1' False",
                    ".site.example /p/ True 4000000000 domain 'a=b \"c\"' False",
                    "site.example / False 0 session '2' False",
                    "a.site.example / False 4000000000 script '3' True",
                    "site.example / True 4000000000 __Host-id '✓' False",
                    "10.0.0.1 /é False 4000000000 empty '' False",
                ])
            let parsed = NetscapeCookies(parsing: try Data(contentsOf: theirs), now: testTime)
            #expect(try Set(parsed.cookies) == Set(Self.cookies()))
            #expect(parsed.malformedLines == [])
        }
    }

    // A session cookie that Python saves has an empty expiry.
    @Test(.enabled(if: hasPython, "python3 is not installed"))
    func aFileThatPythonMadeIsRead() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "cookies.txt")
            let script = """
                import http.cookiejar, sys
                def cookie(name, domain, expires, rest):
                    return http.cookiejar.Cookie(0, name, 'v', None, False, domain, domain.startswith('.'),
                        domain.startswith('.'), '/', True, True, expires, expires is None, None, None, rest)
                jar = http.cookiejar.MozillaCookieJar(sys.argv[1])
                jar.set_cookie(cookie('session', 'site.example', None, {}))
                jar.set_cookie(cookie('domain', '.site.example', 4000000000, {'HTTPOnly': ''}))
                jar.save(ignore_discard=True)
                """
            let result = try await Command.run(["python3", "-c", script, file.path])
            #expect(result.status == 0, "\(result.errors)")
            let parsed = NetscapeCookies(parsing: try Data(contentsOf: file), now: testTime)
            #expect(parsed.malformedLines == [])
            #expect(parsed.cookies.map(\.name).sorted() == ["domain", "session"])
            #expect(parsed.cookies.first { $0.name == "session" }?.expires == nil)
            #expect(parsed.cookies.first { $0.name == "domain" }?.isHostOnly == false)
        }
    }

    // curl reads the file (-b), and writes all its cookies (-c); a file: URL needs no network.
    @Test(.enabled(if: hasCurl, "curl is not installed"))
    func curlReadsAndWritesTheSame() async throws {
        try await withFolder { folder in
            let (ours, theirs) = (folder.appending(path: "ours.txt"), folder.appending(path: "theirs.txt"))
            try NetscapeCookies(try Self.cookies()).data.write(to: ours)
            let command = ["curl", "-sS", "-b", ours.path, "-c", theirs.path, "-o", "/dev/null", "file:///dev/null"]
            let result = try await Command.run(command)
            #expect(result.status == 0, "\(result.errors)")
            let parsed = NetscapeCookies(parsing: try Data(contentsOf: theirs), now: testTime)
            #expect(try Set(parsed.cookies) == Set(Self.cookies()))
            #expect(parsed.malformedLines == [])
        }
    }
}
