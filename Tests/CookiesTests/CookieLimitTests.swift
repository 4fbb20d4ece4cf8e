import FoundationEssentials
import Testing

@testable import LinnetCookies

/// RFC 6265bis, sections 5.5, 5.7 (eviction) and 6.1.
@Suite("Cookie limits", .timeLimit(.minutes(1)))
struct CookieLimitTests {
    // Section 5.5.
    @Test(arguments: [
        ("Max-Age=34560000", 34_560_000.0), ("Max-Age=34560001", 34_560_000),
        ("Max-Age=99999999999999999999", 34_560_000),
        ("Max-Age=34559999", 34_559_999), ("Expires=Wed, 18 Dec 2024 22:13:20 GMT", 34_560_000),
        ("Expires=Wed, 18 Dec 2024 22:13:21 GMT", 34_560_000), ("Expires=Wed, 18 Dec 2024 22:13:19 GMT", 34_559_999),
        ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", 34_560_000), ("Max-Age=1", 1),
    ])
    func noCookieLivesLongerThan400Days(attribute: String, lifetime: Double) throws {
        let jar = makeJar()
        try jar.receive("a=1; \(attribute)", from: "https://site.example/")
        #expect(jar.all.first?.expires == testTime.addingTimeInterval(lifetime))
    }

    @Test func expiredCookiesMakeRoomForThoseOfTheProgram() throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        jar.set(try makeCookie("unused", created: testTime.addingTimeInterval(-100)))
        for index in 0..<49 { jar.set(try makeCookie("short-\(index)", lifetime: 10)) }
        clock.advance(by: 20)
        jar.set(try makeCookie("new"))
        #expect(jar.all.map(\.name) == ["unused", "new"])
    }

    // Section 5.6.2: the earliest date.
    @Test(arguments: [0, -1])
    func anAgeOfZeroIsPast(age: Int) throws {
        let received = fields(["a=1; Max-Age=\(age)"])
        #expect(
            makeJar().store(setCookieFields: received, of: try url("https://site.example/")).map(\.expires) == [
                .distantPast
            ])
    }

    // The default path comes from the URL.
    @Test(arguments: [(1024, nil), (1025, .tooLong)] as [(Int, CookieRefusal?)])
    func aDefaultPathHasAtMost1024Bytes(count: Int, refusal: CookieRefusal?) throws {
        var table = CookieTable(suffixes: testSuffixes)
        let path = "/" + String(repeating: "x", count: count - 1)
        #expect(try table.refusal(of: "a=1", from: "https://host.site.example\(path)/page") == refusal)
        #expect(table.all(now: testTime).map(\.path) == (refusal == nil ? [path] : []))
    }

    @Test(arguments: [0x80, 0xC3, 0xFF] as [UInt8])
    func aDomainIsASCII(byte: UInt8) throws {
        var table = CookieTable(suffixes: testSuffixes)
        let request = try #require(CookieRequest(try url("https://host.site.example/"), .sameSite, testSuffixes))
        let received = try SetCookie(parsing: Array("a=1; Domain=site".utf8) + [byte] + Array(".example".utf8))
        #expect(throws: CookieRefusal.domainCharacters) { try table.receive(received, of: request, now: testTime) }
    }

    // Section 5.7: expired cookies are removed at any time.
    @Test func cookiesExpire() throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        try jar.receive("a=1; Max-Age=10", "b=2; Max-Age=20", "c=3", from: "https://site.example/")
        clock.advance(by: 9.5)
        #expect(try jar.string(for: "https://site.example/") == "a=1; b=2; c=3")
        clock.advance(by: 0.5)
        #expect(try jar.string(for: "https://site.example/") == "b=2; c=3")
        clock.advance(by: 1_000_000)
        #expect(jar.all.map(\.name) == ["c"])
    }

    // Section 5.7, step 6: an update without expiry makes a session cookie.
    @Test func anUpdateReplacesTheExpiryAndKeepsTheCreation() throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        try jar.receive("a=1; Max-Age=10; Secure", from: "https://site.example/")
        clock.advance(by: 5)
        try jar.receive("a=2; HttpOnly", from: "https://site.example/")
        let cookie = try #require(jar.all.first)
        #expect(cookie.expires == nil && !cookie.isPersistent && !cookie.isSecure && cookie.isHTTPOnly)
        #expect(cookie.creationDate == testTime)
        #expect(cookie.lastAccessDate == testTime.addingTimeInterval(5))
    }

    // Section 5.8.3, step 5: only sent cookies count as used.
    @Test func retrievalUpdatesTheTimeOfUse() throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        try jar.receive("a=1; Path=/a", "b=2", from: "https://site.example/")
        clock.advance(by: 5)
        _ = try jar.string(for: "https://site.example/")
        #expect(jar.all.map { $0.lastAccessDate.timeIntervalSince(testTime) } == [0, 5])
    }

    // Section 5.7, priority 2: a domain with too many loses the insecure cookie that was used longest ago.
    @Test func aDomainWithTooManyLosesInsecureCookiesFirst() throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        for index in 0..<50 {
            clock.advance(by: 1)
            try jar.receive("c\(index)=1\(index % 2 == 0 ? "; Secure" : "")", from: "https://site.example/")
        }
        #expect(jar.all.count == 50)
        clock.advance(by: 1)
        #expect(try jar.receive("new=1; Secure", from: "https://site.example/") == 1)
        #expect(Set((0..<50).map { "c\($0)" }).subtracting(jar.all.map(\.name)) == ["c1"])
        // c3 would be the next, but it was used.
        clock.advance(by: 1)
        try jar.receive("c3=2", from: "https://site.example/")
        clock.advance(by: 1)
        try jar.receive("newer=1; Secure", from: "https://site.example/")
        #expect(Set((0..<50).map { "c\($0)" }).subtracting(jar.all.map(\.name)) == ["c1", "c5"])
        #expect(jar.all.count == 50)
    }

    // Section 5.7, priority 3: then any of the domain.
    @Test func aDomainOfSecureCookiesLosesTheLeastRecentlyUsedOne() throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        for index in 0..<51 {
            clock.advance(by: 1)
            try jar.receive("c\(index)=1; Secure", from: "https://site.example/")
        }
        #expect(jar.all.map(\.name) == (1..<51).map { "c\($0)" })
    }

    // Section 5.7: "share a domain field".
    @Test func hostAndDomainCookiesAreCountedByTheirDomainField() throws {
        let jar = makeJar()
        for index in 0..<60 {
            try jar.receive("h\(index)=1", "d\(index)=1; Domain=site.example", from: "https://a.site.example/")
        }
        #expect(jar.all.filter { $0.domain == "a.site.example" }.map(\.name) == (10..<60).map { "h\($0)" })
        #expect(jar.all.filter { $0.domain == "site.example" }.map(\.name) == (10..<60).map { "d\($0)" })
    }

    // Section 5.7, priority 1: expired cookies go before any other.
    @Test func expiredCookiesMakeRoom() throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        for index in 0..<50 {
            try jar.receive("c\(index)=1\(index == 40 ? "; Max-Age=5; Secure" : "")", from: "https://site.example/")
        }
        clock.advance(by: 5)
        try jar.receive("new=1", from: "https://site.example/")
        #expect(jar.all.map(\.name) == (0..<50).filter { $0 != 40 }.map { "c\($0)" } + ["new"])
    }

    // Section 5.7, priority 4, and section 6.1.
    @Test func aFullJarLosesTheLeastRecentlyUsedCookie() throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        for index in 0..<3000 {
            clock.advance(by: 0.001)
            try jar.receive("c=1", from: "https://host\(index).example/")
        }
        #expect(jar.all.count == 3000)
        clock.advance(by: 1)
        _ = try jar.string(for: "https://host0.example/")
        try jar.receive("c=1; Secure", from: "https://new.example/")
        #expect(jar.all.count == 3000)
        #expect(try jar.string(for: "https://host0.example/") == "c=1")
        #expect(try jar.string(for: "https://host1.example/") == "")
    }
}
