/// Reads dates in one form of ISO 8601, `2026-11-23T04:05:06.789Z`, without a formatter, which takes many times as
/// long.
enum UsualDate {
    private static let daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]

    /// The seconds since 2001 in UTC; nil for a text of another form, and for a date or a time that does not exist.
    ///
    /// - Parameter fraction: Whether up to six digits of a fraction are read.
    static func seconds(_ text: UnsafeBufferPointer<UInt8>, fraction: Bool) -> Double? {
        guard text.count >= 20, text.count <= 27, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            text[text.count - 1] == UInt8(ascii: "Z")
        else { return nil }
        guard let year = number(text[0..<4]), let month = number(text[5..<7]), let day = number(text[8..<10]),
            let hour = number(text[11..<13]), let minute = number(text[14..<16]), let second = number(text[17..<19]),
            // In other years a number is too coarse for its microsecond to be certain.
            (1866..<2137).contains(year), (1...12).contains(month), hour < 24, minute < 60, second < 60,
            let days = days(year, month, day: day)
        else { return nil }
        let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
        if text.count == 20 { return Double(seconds) }
        let digits = text[20..<(text.count - 1)]
        guard fraction, text[19] == UInt8(ascii: "."), !digits.isEmpty, var micros = number(digits) else { return nil }
        for _ in digits.count..<6 { micros *= 10 }
        // The number nearest to the written decimal.
        return Double(seconds * 1_000_000 + micros) / 1e6
    }

    /// Whether a text that begins with `2026-11-23` names a day of the calendar, which Foundation's formatters do not
    /// check: they take 31 February for 3 March. True for a text of another form, which is left to a formatter.
    static func namesDay(_ text: String) -> Bool {
        let bytes = Array(text.utf8.prefix(10))
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            (1...12).contains(month)
        else { return true }
        return days(year, month, day: day) != nil
    }

    /// The days from 2001 to a date of the Gregorian calendar; nil for a nonexistent day.
    private static func days(_ year: Int, _ month: Int, day: Int) -> Int? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let before = daysBeforeMonth[month - 1]
        let length = daysBeforeMonth[month] - before + (isLeap && month == 2 ? 1 : 0)
        guard day >= 1, day <= length else { return nil }
        return daysBefore(year) - daysBefore(2001) + before + (isLeap && month > 2 ? 1 : 0) + day - 1
    }

    /// The days from the year 1 to a year.
    private static func daysBefore(_ year: Int) -> Int {
        let years = year - 1
        return years * 365 + years / 4 - years / 100 + years / 400
    }

    private static func number(_ digits: some Sequence<UInt8>) -> Int? {
        var value = 0
        for byte in digits {
            guard byte &- 0x30 < 10 else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }
}
