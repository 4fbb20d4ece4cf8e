import FoundationEssentials

/// A date as XML property lists write it, `2030-01-02T03:04:05Z`: in UTC, whole seconds, and the proleptic Gregorian
/// calendar (ISO 8601, section 4.3.2.1). Foundation's calendar is Julian before 1582.
struct PropertyListDate {
    let date: Date

    init(_ date: Date) { self.date = date }

    /// The year has at least four digits, and a minus sign before the year 0.
    init?(_ text: Substring) {
        var text = text.utf8[...]
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { text.removeFirst() }
        let digits = text.prefix { (0x30...0x39).contains($0) }
        guard (4...9).contains(digits.count), let magnitude = Int64(Substring(digits)) else { return nil }
        var rest = text.dropFirst(digits.count)
        func field(_ mark: Unicode.Scalar, _ range: ClosedRange<Int64>) -> Int64? {
            guard rest.popFirst() == UInt8(ascii: mark), let first = rest.popFirst(), let second = rest.popFirst(),
                (0x30...0x39).contains(first), (0x30...0x39).contains(second)
            else { return nil }
            let value = Int64(first - 0x30) * 10 + Int64(second - 0x30)
            return range.contains(value) ? value : nil
        }
        let year = isNegative ? -magnitude : magnitude
        guard let month = field("-", 1...12), let day = field("-", 1...Self.days(in: month, of: year)),
            let hour = field("T", 0...23), let minute = field(":", 0...59), let second = field(":", 0...59),
            rest.elementsEqual("Z".utf8)
        else { return nil }
        let days = Self.days(beforeMarchOf: month > 2 ? year : year - 1) + Self.day(ofMonth: month, day)
        let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
        date = Date(timeIntervalSinceReferenceDate: TimeInterval(seconds - Self.referenceSeconds))
    }

    /// The text; nil if the year has more than nine digits.
    var text: String? {
        let whole = date.timeIntervalSinceReferenceDate.rounded(.down)
        guard abs(whole) < 3e16 else { return nil }
        let seconds = Int64(whole) + Self.referenceSeconds
        let (day, rest) = (Self.floorDivided(seconds, 86_400), Self.remainder(seconds, 86_400))
        let (year, month, dayOfMonth) = Self.calendarDay(day)
        guard abs(year) < 1_000_000_000 else { return nil }
        let sign = year < 0 ? "-" : ""
        let date = [Self.padded(abs(year), 4), Self.padded(month, 2), Self.padded(dayOfMonth, 2)]
        let time = [rest / 3600, rest / 60 % 60, rest % 60].map { Self.padded($0, 2) }
        return "\(sign)\(date.joined(separator: "-"))T\(time.joined(separator: ":"))Z"
    }

    // MARK: The calendar

    // Days are counted from 1 March of the year 0. Years begin in March, so that a leap day is the last of its year.
    // 400 years have 146,097 days, and each five months from March on have 153.

    /// The days from 1 March of the year 0 to the beginning of 2001.
    private static let referenceSeconds = (days(beforeMarchOf: 2000) + day(ofMonth: 1, 1)) * 86_400

    private static func days(beforeMarchOf year: Int64) -> Int64 {
        year * 365 + floorDivided(year, 4) - floorDivided(year, 100) + floorDivided(year, 400)
    }

    /// The day of a year that begins in March, from 0.
    private static func day(ofMonth month: Int64, _ day: Int64) -> Int64 { ((month + 9) % 12 * 153 + 2) / 5 + day - 1 }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: remainder(year, 4) == 0 && (remainder(year, 100) != 0 || remainder(year, 400) == 0) ? 29 : 28
        default: 31
        }
    }

    private static func calendarDay(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, inEra) = (floorDivided(day, 146_097), remainder(day, 146_097))
        let yearOfEra = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100)
        let month = (inYear * 5 + 2) / 153
        let year = era * 400 + yearOfEra + (month < 10 ? 0 : 1)
        return (year, (month + 2) % 12 + 1, inYear - (month * 153 + 2) / 5 + 1)
    }

    private static func floorDivided(_ value: Int64, _ divisor: Int64) -> Int64 {
        (value - remainder(value, divisor)) / divisor
    }

    private static func remainder(_ value: Int64, _ divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
