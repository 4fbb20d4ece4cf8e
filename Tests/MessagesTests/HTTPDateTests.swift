import Testing

@testable import LinnetMessages

@Suite("HTTP dates", .timeLimit(.minutes(5)))
struct HTTPDateTests {
    /// The seconds come from an independent computation (`date -u -d`).
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
        ("Wed Nov 16 08:49:37 1994", 784_975_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Fri, 31 Dec 9999 23:59:60 GMT", 253_402_300_800), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        // Each fourth year has a 29 February, except for three of four century years.
        ("Thu, 01 Mar 1900 00:00:00 GMT", -2_203_891_200), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ("Sun, 28 Feb 2100 23:59:59 GMT", 4_107_542_399),
        // The name of the day is valid, even if it does not match the date.
        ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
    ])
    func datesAreRead(text: String, seconds: Int64) {
        #expect(HTTPDate(text)?.secondsSinceEpoch == seconds)
    }

    @Test(arguments: [
        "", "Sun", "Sun,", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMT ",
        " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMTT", "Sun, 06 Nov 1994 08:49:37 gmt",
        // Numbers have their digits.
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun,  6 Nov 1994 08:49:37 GMT", "Sun, 006 Nov 1994 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:9:37 GMT", "Sun, 06 Nov 1994 08:49:7 GMT",
        "Sun, 06 Nov 1994 008:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 ::: GMT",
        "Sun, 06 Nov 1994 08:49:37.5 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
        // Names of days and months have the length of their format.
        "06 Nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 November 1994 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 11 1994 08:49:37 GMT",
        // The characters between them follow the format.
        "Sun 06 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sun, 06 Nov  1994 08:49:37 GMT", "Sun, 06 Nov 1994, 08:49:37 GMT", "Sun, Nov 06 1994 08:49:37 GMT",
        "Sun, 06\tNov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37GMT", "Sun, 06 Nov 1994 08:49:37-GMT",
        // Days and times that do not exist.
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 32 Jan 1994 08:49:37 GMT",
        "Fri, 29 Feb 2023 00:00:00 GMT", "Thu, 30 Feb 2024 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT",
        "Mon, 29 Feb 2100 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:60 GMT", "Sun, 06 Nov 1994 23:58:60 GMT", "Sun, 06 Nov 1994 23:59:61 GMT",
        // The form of RFC 850.
        "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday 06-Nov-94 08:49:37 GMT",
        "Sunday, 6-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT", "Sunday, 31-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37", "Someday, 06-Nov-94 08:49:37 GMT",
        // The form of asctime.
        "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 1994 GMT", "Sun, Nov  6 08:49:37 1994",
        "Sun Nov  06 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sunday Nov  6 08:49:37 1994",
        "Sun Nov 31 08:49:37 1994", "Sun Feb 29 08:49:37 2100", "Sun Nov  0 08:49:37 1994",
    ])
    func otherTextsAreNoDates(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test(arguments: [
        "sun, 06 nov 1994 08:49:37 gmt", "SUN, 06 NOV 1994 08:49:37 GMT", "sUnDaY, 06-nOv-94 08:49:37 GmT",
        "SUN NOV  6 08:49:37 1994",
    ])
    func cachesReadLettersInAnyCase(text: String) {
        #expect(HTTPDate(text) == nil)
        #expect(HTTPDate(text, ignoresCase: true)?.secondsSinceEpoch == 784_111_777)
    }

    /// At 2026-11-24 00:00:00, 1994-11-06 08:49:37 and 2070-01-01 00:00:00.
    @Test(arguments: [
        ("Sunday, 06-Nov-94 08:49:37 GMT", 1_795_478_400, 784_111_777),
        ("Wednesday, 01-Jan-76 00:00:00 GMT", 1_795_478_400, 3_345_062_400),
        ("Friday, 01-Jan-77 00:00:00 GMT", 1_795_478_400, 220_924_800),
        ("Wednesday, 01-Jan-70 00:00:00 GMT", 1_795_478_400, 3_155_760_000),
        ("Friday, 01-Jan-43 00:00:00 GMT", 784_111_777, 2_303_683_200),
        ("Friday, 01-Jan-45 00:00:00 GMT", 784_111_777, -788_918_400),
        ("Friday, 01-Jan-00 00:00:00 GMT", 3_155_760_000, 4_102_444_800),
        ("Friday, 01-Jan-19 00:00:00 GMT", 3_155_760_000, 4_701_974_400),
        ("Friday, 01-Jan-21 00:00:00 GMT", 3_155_760_000, 1_609_459_200),
    ])
    func twoDigitsOfAYearAreThoseOfADateAtMost50YearsInTheFuture(text: String, now: Int64, seconds: Int64) {
        #expect(HTTPDate(text, now: HTTPDate(secondsSinceEpoch: now))?.secondsSinceEpoch == seconds)
    }

    @Test func eachDayOfFourCenturiesIsOneAfterTheOther() {
        var expected: Int64 = -2_208_988_800
        for year in 1900..<2300 {
            for month in HTTPDate.months {
                for day in 1...31 {
                    let text = "Mon, \(day < 10 ? "0" : "")\(day) \(month) \(year) 00:00:00 GMT"
                    guard let found = HTTPDate(text)?.secondsSinceEpoch else { continue }
                    guard found == expected else {
                        Issue.record("\(text) is \(found), not \(expected)")
                        return
                    }
                    expected += 86_400
                }
            }
        }
        #expect(expected == 10_413_792_000)
    }
}
