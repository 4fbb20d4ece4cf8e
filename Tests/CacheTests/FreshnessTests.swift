import FoundationEssentials
import HTTPTypes
import LinnetMessages
import Testing

@testable import LinnetCache

/// RFC 9111, section 4.2.
@Suite(.timeLimit(.minutes(1)))
struct FreshnessTests {
    /// Section 4.2.1: the lifetime, in seconds, in a private and in a shared cache.
    @Test(arguments: [
        ("Cache-Control: max-age=60", 60, 60), ("Cache-Control: s-maxage=10, max-age=60", 60, 10),
        ("Cache-Control: max-age=60, s-maxage=10", 60, 10), ("Cache-Control: s-maxage=10", 0, 10),
        ("Cache-Control: max-age=60|Expires: {+1h}", 60, 60), ("Cache-Control: s-maxage=5|Expires: {+1h}", 3600, 5),
        ("Expires: {+1h}", 3600, 3600), ("Expires: {+60s}|Date: {-50s}", 110, 110), ("Expires: {-50s}", 0, 0),
        ("Cache-Control: max-age=60, max-age=5", 60, 60), ("Cache-Control: max-age=x, max-age=5", 0, 0),
        ("Cache-Control: max-age=x|Expires: {+1h}", 0, 0), ("Expires: {+60s}|Expires: {+1h}", 60, 60),
        ("Cache-Control: max-age=99999999999999", 2_147_483_648, 2_147_483_648),
        ("Cache-Control: s-maxage=x, max-age=60", 60, 0),
        // Section 5.3: a broken date has passed.
        ("Expires: 0", 0, 0), ("Expires: -1", 0, 0), ("Expires: ", 0, 0), ("Expires: tomorrow", 0, 0),
        ("Expires: Tue, 14 Nov 2023 23:13:20 CET", 0, 0), ("Expires: 0|Last-Modified: {-1000d}", 0, 0),
        ("Expires: Tue, 14 Nov 2023 23:13:20 +0000", 0, 0), ("Expires: 1700003600", 0, 0),
        ("Expires: Tue 14 Nov 2023 23:13:20 GMT", 0, 0), ("Expires: Tue, 14-Nov-2023 23:13:20 GMT", 0, 0),
        ("Expires: Tue, 14 Nov 23 23:13:20 GMT", 0, 0), ("Expires: Tue, 14 Nov  2023 23:13:20 GMT", 0, 0),
        ("Expires: Tue, 14 Nov 2023 23:13:2 GMT", 0, 0), ("Expires: Fri, 31 Nov 2023 23:13:20 GMT", 0, 0),
        ("Expires: Thu, 29 Feb 2100 00:00:00 GMT", 0, 0), ("Expires: Abc, 14 Nov 2023 23:13:20 GMT", 0, 0),
        ("Expires: Tue, 14 Nov 2023 23.13.20 GMT", 0, 0), ("Expires: 14 Nov 2023 23:13:20 GMT", 0, 0),
        // Section 4.2: dates in any case, and in the obsolete formats of RFC 9110, section 5.6.7.
        ("Expires: tue, 14 nov 2023 23:13:20 gmt", 3600, 3600), ("Expires: TUE, 14 NOV 2023 23:13:20 GMT", 3600, 3600),
        ("Expires: Tuesday, 14-Nov-23 23:13:20 GMT", 3600, 3600), ("Expires: Tue Nov 14 23:13:20 2023", 3600, 3600),
        // Section 4.2.2: a tenth of the time since the modification, at most a week.
        ("Last-Modified: {-100s}", 10, 10), ("Last-Modified: {-10d}", 86_400, 86_400),
        ("Last-Modified: {-1000d}", 604_800, 604_800), ("Last-Modified: {+60s}", 0, 0), ("Last-Modified: x", 0, 0),
        ("Last-Modified: Thu 02 Nov 2023 22:13:20 GMT", 0, 0), ("Last-Modified: Tue, 31 Feb 2023 22:13:20 GMT", 0, 0),
        ("ETag: \"a\"", 0, 0), ("", 0, 0), ("Last-Modified: {-100s}|Date: {-50s}", 5, 5),
        ("Cache-Control: max-age=1|Last-Modified: {-1000d}", 1, 1),
    ])
    func lifetimes(text: String, inPrivate: Int, inShared: Int) throws {
        let response = try stored(text)
        #expect(CacheRules().lifetime(of: response) == Double(inPrivate))
        #expect(CacheRules(isShared: true).lifetime(of: response) == Double(inShared))
    }

    /// Section 4.2.2: only statuses that are cacheable without an expiration, or with `public`.
    @Test(arguments: [(200, "", 10), (404, "", 10), (301, "", 10), (302, "private", 0), (302, "public", 10)])
    func heuristicLifetimesDependOnTheStatus(status: Int, directives: String, expected: Int) throws {
        let response = try stored("Last-Modified: {-100s}|Cache-Control: \(directives)", status: status)
        #expect(CacheRules().lifetime(of: response) == Double(expected))
    }

    /// Section 4.2.2: with a query, a response without Last-Modified is never fresh of itself; nor is one without a
    /// query.
    @Test(arguments: ["https://example.com/a?b=c", "https://example.com/a?", url])
    func heuristicLifetimesNeedADateOfModification(url: String) throws {
        #expect(CacheRules().lifetime(of: try stored("ETag: \"a\"", url: url)) == 0)
        #expect(CacheRules().lifetime(of: try stored("Last-Modified: {-100s}", url: url)) == 10)
    }

    /// Section 4.2.3: the age of a response that was requested, received and used at these seconds.
    @Test(arguments: [
        // apparent_age, response_delay, resident_time.
        ("", 0.0, 0.0, 0.0, 0.0), ("", 0, 0, 30, 30), ("", 0, 2, 2, 2), ("", 0, 2, 32, 32),
        ("Date: {-50s}", 0, 0, 0, 50),
        ("Date: {-50s}", 0, 5, 5, 55), ("Date: {-50s}", 0, 5, 10, 60), ("Date: {+60s}", 0, 0, 10, 10),
        ("-Date", 0, 3, 10, 10), ("Date: x", 0, 3, 10, 10),
        ("Date: Tue 14 Nov 2023 22:12:30 GMT", 0, 0, 0, 0), ("Date: Tue, 31 Sep 2023 22:12:30 GMT", 0, 0, 0, 0),
        // Age of caches on the way: the greater of both counts, and it includes the delay.
        ("Age: 100", 0, 0, 0, 100), ("Age: 100", 0, 4, 10, 110), ("Age: 100|Date: {-50s}", 0, 0, 0, 100),
        ("Age: 10|Date: {-50s}", 0, 0, 0, 50), ("Age: 48|Date: {-50s}", 0, 5, 5, 55),
        ("Age: 100|Date: {+60s}", 0, 0, 5, 105),
        // Section 5.1: the first member counts, an invalid one is ignored.
        ("Age: 7, 100", 0, 0, 0, 7), ("Age: 7|Age: 100", 0, 0, 0, 7), ("Age: x", 0, 0, 9, 9), ("Age: -5", 0, 0, 9, 9),
        ("Age: 1.5", 0, 0, 9, 9), ("Age: , 5", 0, 0, 9, 14), ("Age: 99999999999999999999", 0, 0, 0, 2_147_483_648),
        // A clock that goes back does not make a response younger.
        ("", 5, 0, 0, 0), ("Age: 10", 0, 0, -20, 10),
    ])
    func ages(text: String, sent: Double, received: Double, used: Double, expected: Double) throws {
        let response = try stored(text, requestTime: sent, responseTime: received)
        #expect(CacheRules.age(of: response, at: at(used)) == expected)
    }

    /// Section 4.2: a response is stale when its age equals its lifetime.
    @Test(arguments: [(59.0, true), (59.999, true), (60.0, false), (61.0, false), (.infinity, false)])
    func freshnessEndsWithTheLifetime(age: Double, isFresh: Bool) throws {
        let response = try stored("Cache-Control: max-age=60")
        #expect(CacheRules().freshness(of: response, at: at(age)).isFresh == isFresh)
    }

    /// RFC 9110, section 5.6.7.
    @Test(arguments: [
        (0.0, "Thu, 01 Jan 1970 00:00:00 GMT"), (1_700_000_000.0, firstDate),
        (36_000.0, "Thu, 01 Jan 1970 10:00:00 GMT"), (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400.0, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1.0, "Wed, 31 Dec 1969 23:59:59 GMT"),
        (253_402_300_799.0, "Fri, 31 Dec 9999 23:59:59 GMT"), (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (-.infinity, "Mon, 01 Jan 0001 00:00:00 GMT"), (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ])
    func datesAreWrittenInThePreferredFormat(seconds: Double, expected: String) {
        let date = HTTPDate(Date(timeIntervalSince1970: seconds))
        #expect(date.text == expected)
        #expect(HTTPDate(expected) == date)
    }
}
