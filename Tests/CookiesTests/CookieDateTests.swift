import CommandSupport
import FoundationEssentials
import Testing

@testable import LinnetCookies

/// RFC 6265bis, section 5.1.1. The seconds come from an independent computation (`date -u -d`).
@Suite("Cookie dates", .timeLimit(.minutes(1)))
struct CookieDateTests {
    private func seconds(_ text: String) -> Double? {
        CookieDate.parse(Array(text.utf8)[...])?.timeIntervalSince1970
    }

    @Test(arguments: [
        // The formats of RFC 9110, section 5.6.7.
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777),
        // Step 1: delimiters of all kinds, and none at the ends.
        ("\t06\tNov\t1994\t08:49:37\t", 784_111_777), ("06/Nov/1994;08:49:37", 784_111_777),
        ("06_Nov_1994@08:49:37", 784_111_777), ("{06}[Nov]~1994|08:49:37", 784_111_777),
        ("6-nov-1994 08:49:37", 784_111_777), ("\"06 Nov 1994 08:49:37\"", 784_111_777),
        // Step 2: any order, case and additional text.
        ("1994 Nov 6 08:49:37", 784_111_777), ("08:49:37 Nov 6 1994", 784_111_777),
        ("Nov 6 1994 08:49:37", 784_111_777),
        ("06 NOVEMBER 1994 08:49:37", 784_111_777), ("06 novembre 1994 08:49:37", 784_111_777),
        ("6th Nov 1994th 08:49:37Z", 784_111_777), ("6 Nov 1994 8:49:37", 784_111_777),
        ("6 Nov 1994 8:9:7 +0200 CEST", 784_109_347), ("Sun, 06 Nov 1994 08:49:37.123 GMT", 784_111_777),
        // Step 2: found fields are not replaced.
        ("06 Nov 1994 08:49:37 07 Dec 1995 09:50:38", 784_111_777),
        // Step 2: a second time can be a day, because a number may have anything behind it.
        ("08:49:37 06:00:00 Nov 1994", 784_111_777),
        // Steps 3 and 4: two digits of a year.
        ("06 Nov 69 08:49:37", 3_150_953_377), ("06 Nov 70 08:49:37", 26_729_377),
        ("06 Nov 99 08:49:37", 941_878_177), ("06 Nov 00 08:49:37", 973_500_577),
        // Steps 5 and 6: the ends of the ranges.
        ("01 Jan 1601 00:00:00", -11_644_473_600), ("31 Dec 9999 23:59:59", 253_402_300_799),
        ("29 Feb 2024 00:00:00", 1_709_164_800), ("29 Feb 2000 00:00:00", 951_782_400),
        ("31 Jan 1970 00:00:00", 2_592_000), ("30 Apr 1970 00:00:00", 10_281_600),
        ("01 Mar 1900 00:00:00", -2_203_891_200), ("28 Feb 2100 00:00:00", 4_107_456_000),
        ("01 Mar 2100 00:00:00", 4_107_542_400), ("31 Dec 2100 00:00:00", 4_133_894_400),
    ])
    func datesAreRead(text: String, expected: Double) {
        #expect(seconds(text) == expected)
    }

    @Test(arguments: [
        // Step 5: something is missing.
        "", "Sun", "06 Nov 1994", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37", "08:49:37",
        // Step 2: the productions of a time, a day, a month and a year.
        "06 Nov 1994 08:49", "06 Nov 1994 084:49:37", "06 Nov 1994 08:49:377", "06 Nov 1994 08::37",
        "06 Nov 1994 :49:37",
        "006 Nov 1994 08:49:37", "06 No 1994 08:49:37", "06 Now 1994 08:49:37", "06 Nov 19940 08:49:37",
        "06 Nov 1 08:49:37",
        "x06 Nov 1994 08:49:37", "06 xNov 1994 08:49:37", "06 Nov 1994 x08:49:37",
        // Step 5: out of range.
        "00 Nov 1994 08:49:37", "32 Nov 1994 08:49:37", "06 Nov 1600 08:49:37", "06 Nov 101 08:49:37",
        "06 Nov 1994 24:49:37", "06 Nov 1994 08:60:37", "06 Nov 1994 08:49:60",
        // Step 6: no such day.
        "31 Nov 1994 08:49:37", "29 Feb 1900 08:49:37", "29 Feb 2100 08:49:37",
        "29 Feb 2023 08:49:37", "30 Feb 2024 08:49:37",
        "31 Apr 1994 08:49:37",
        // Characters that are not delimiters.
        "06\u{7F}Nov\u{7F}1994\u{7F}08:49:37", "06\u{01}Nov\u{01}1994\u{01}08:49:37", "06éNové1994é08:49:37",
    ])
    func otherTextsAreNoDates(text: String) {
        #expect(seconds(text) == nil)
    }

    @Test func eachDayOfACenturyIsOneAfterTheOther() {
        var expected = 946_684_800.0
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        for year in 2000..<2101 {
            for month in months {
                for day in 1...31 {
                    guard let found = seconds("\(day) \(month) \(year) 00:00:00") else { continue }
                    guard found == expected else {
                        Issue.record("\(day) \(month) \(year) is \(found), not \(expected)")
                        return
                    }
                    expected += 86400
                }
            }
        }
        #expect(expected == 4_133_980_800)
    }

    @Test func randomTextsAreReadInBoundedTime() {
        var random = SplitMix(seed: RandomSeed.next())
        let pieces = [
            "Nov", "06", "1994", "08:49:37", " ", ":", "-", "\u{7F}", "99999999999999999999", "é", ";", "0", "May",
        ]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            guard let found = seconds(text) else { continue }
            #expect(-11_644_473_600...253_402_300_799 ~= found, "\(text)")
        }
    }
}
