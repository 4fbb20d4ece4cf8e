/// A point in time as HTTP writes it today: IMF-fixdate (RFC 9110, section 5.6.7), such as
/// `Sun, 06 Nov 1994 08:49:37 GMT`. The two obsolete forms are not read.
struct HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    let secondsSinceEpoch: Int64

    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[0].count == 4, words[0].last == ",", words[5] == "GMT",
            let day = Self.number(words[1], digits: 2), let month = Self.months.firstIndex(of: String(words[2])),
            let year = Self.number(words[3], digits: 4)
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard time.count == 3, let hour = Self.number(time[0], digits: 2), let minute = Self.number(time[1], digits: 2),
            let second = Self.number(time[2], digits: 2), 1...31 ~= day, hour < 24, minute < 60, second <= 60
        else { return nil }
        secondsSinceEpoch = ((Self.days(year, Int64(month) + 1, day) * 24 + hour) * 60 + minute) * 60 + second
    }

    private static func number(_ text: Substring, digits: Int) -> Int64? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// Days since 1970 in the Gregorian calendar: years begin in March, so that a leap day comes last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
